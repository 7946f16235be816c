"""Agreement: where causal head gating and other measures of the same model and task differ, and why."""
