"""Where heads look on a prompt, and what their patterns are scored by."""
