"""A battery of prompts: what every head does over all of them, and where it does it most."""
