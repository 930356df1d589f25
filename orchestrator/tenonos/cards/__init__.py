"""Measured cards: what each library costs, and whether that is still so.

* `card` is a card and its text, one file per library below `bench/cards`;
* `specimens` chooses the images that are measured: the plainest that have each library;
* `measure` reads bytes and stacks from them, `operations` has instructions from the bench;
* `stale` says which cards are of other sources, options or another compiler;
* `estimate` adds cards up to an image that was never built.
"""
