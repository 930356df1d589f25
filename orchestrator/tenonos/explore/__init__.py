"""Exploring: alternatives of a composition, each built, booted and measured.

`space` says what a composition leaves open, `oracle` judges one alternative, `search` goes
through them generation by generation, `workers` does so here or on a cluster, and `journal`
keeps what was found, so that nothing is judged twice.
"""
