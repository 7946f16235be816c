"""A language model as a set of heads: its folder, its tokens, its passes, interventions on it."""
