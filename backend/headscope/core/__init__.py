"""The mathematics. Knows no web, no database, no plotly.

    circuits                 what weights alone say
    attribution              what a head is worth to an answer
    gating                   causal head gating
    patterns | statistics    where heads look; how sure a finding is
    model                    a model as a set of heads
    arrays

A room imports from those below it; import-linter holds that.
"""
