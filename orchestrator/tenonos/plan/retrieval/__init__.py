"""Retrieval: lookup of words in the pool's texts.

`knowledge` has the texts of the pool, `graph` its Lib-Graph; `retrieve` ranks by words
(`rankings`), `lightrag` also by the graph, and `scoring` scores the paths.
"""
