"""Models small enough to work out by hand, in plain torch: what the real adapter is held against."""
