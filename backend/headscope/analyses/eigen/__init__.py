"""Eigenvalues of every head's OV and QK circuits: what it copies, and what it matches."""
