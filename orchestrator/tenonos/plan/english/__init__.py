"""Reader of objectives: from English text to a typed plan; `readings.read` is the entry point.

An objective passes through these stages, each of which depends on earlier ones only:

* *words* (`text`), the closed classes and set phrases of English (`grammar`, `idioms`,
  `negations`, `background`), and word groups with a joint meaning (`gist`);
* *marks*: parts understood by grammar alone (`marker`, from `quantities`, `cores`, `corrections`,
  `ticks`, `utilities`, `enumerations`, `roles` and `asides`, which are no demands);
* *phrases* between them, split at connectors (`phrases`, `elements`, `rates`);
* *senses*: the meaning of phrases in the pool (`meaning`, `sense`, `denials`);
* *subjects*: the VMs of an objective, and attachment of demands (`subjects`, `relations`,
  `attach`);
* leftovers: classification of words that were not understood (`unmatched`).

`objective` runs the stages and collects the items of the plan with their words (`plan_items`).
"""
