"""Tables, migrations, runs, shares, artifacts."""
