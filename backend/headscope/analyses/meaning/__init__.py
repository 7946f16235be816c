"""What each head does, by name, from measured evidence only."""
