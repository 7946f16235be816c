"""The residual stream: who writes to it, who reads it, who clears it, and how large it grows."""
