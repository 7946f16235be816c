"""Numbers: models, gates, roles. Knows no web, no database, no plotly."""
