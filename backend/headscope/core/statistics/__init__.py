"""How sure a finding is. numpy and scipy only."""
