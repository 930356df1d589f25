"""Design space exploration: alternatives of a composition, each built, booted and measured.

`space` has the open settings of a composition, `oracle` evaluates one alternative, `search`
proceeds by generations, `workers` run evaluations on this machine or on a cluster, and `journal`
keeps results, so that no alternative is evaluated twice.
"""
