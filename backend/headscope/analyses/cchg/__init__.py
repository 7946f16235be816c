"""Contrastive gating: heads that the tasks to retain need and the tasks to forget don't get."""
