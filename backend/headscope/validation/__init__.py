"""Planted truth that anyone can rerun: models whose heads' roles are known, fitted and scored."""
