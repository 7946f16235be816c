"""The durable engine behind one small face."""
