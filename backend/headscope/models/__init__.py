"""Where models come from: the package, PyPI, a local folder, the hub. Loads no torch."""
