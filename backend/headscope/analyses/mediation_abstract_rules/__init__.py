"""Abstract rules: heads that abstract symbols, that continue the rule, that retrieve the answer."""
