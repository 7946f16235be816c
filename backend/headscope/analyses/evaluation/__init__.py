"""Kept gates evaluated on any tasks: accuracy and log-probability on held-out rows, without and with them."""
