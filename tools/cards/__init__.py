"""Measurement of cost cards, and their freshness.

* `specimens` chooses the images to measure: for each library the simplest that contains it;
* `measure` reads bytes and stacks from them, `operations` has instructions from the bench;
* `stale` finds cards of other sources, options or another compiler.
"""
