"""Retrieval: which of the pool's own texts words mean, and what they lead to.

`knowledge` is what the pool says about itself, `graph` its Lib-Graph; `retrieve` ranks by
words (`rankings`), `lightrag` by the graph too, and `scoring` judges the paths.
"""
