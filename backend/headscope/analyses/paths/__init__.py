"""Paths: a logit on a prompt as a sum over the ways through the heads."""
