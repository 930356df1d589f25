"""Cost cards: the measured cost of each library, and sums of costs.

* `card` is a card and its text, one file per library below `bench/cards`;
* `estimate` adds cards up to the size of an image that was not built.

`tools/cards` measures them.
"""
