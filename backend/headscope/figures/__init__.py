"""Plotly figures, built once for page, notebook, command line and export.

Drawing parts only: what an analysis draws with them is in its own ``figures.py``, and
``headscope.analyses.figures`` builds a result's figure by name. A figure is plain JSON: arrays typed, colours
from one palette, no template.
"""
