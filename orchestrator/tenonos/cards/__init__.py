"""Cost cards: the measured cost of each library, and their freshness.

* `card` is a card and its text, one file per library below `bench/cards`;
* `specimens` chooses the images to measure: for each library the simplest that contains it;
* `measure` reads bytes and stacks from them, `operations` has instructions from the bench;
* `stale` finds cards of other sources, options or another compiler;
* `estimate` adds cards up to the size of an image that was not built.
"""
