"""Plotly figures, built once for page, notebook, command line and export."""
