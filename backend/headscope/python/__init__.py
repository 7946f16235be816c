"""The Python front door: what ``import headscope`` gives to a notebook or a script."""
