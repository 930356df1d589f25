"""Trained reader of objectives: from a text in any language to claims, each with its words.

`load` has the files, `reader` the whole; `plan.combine` uses it. An objective passes
through these modules:

* `pieces`: tokens of the vocabulary, `base` that of the base model, with its weights;
* `encoder`: states of the tokens, by layers of the base model with trained adapters;
* `heads`: scores of capabilities, pieces, relations and roles; a capability is known by its text
  (`labels`);
* `numbers`: quantities, by the grammar of `english.quantities`: no value comes from the model;
* `decode`: the claims of a `reading`.

It needs numpy alone. `./tenon train` makes the weights (`weights`) again; docs/reader.md is their
card.
"""
