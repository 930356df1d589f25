"""Reading an objective: English in, a typed plan out; `readings.read` is the way in.

An objective passes through these stages, each of which knows those before it only:

* *words* (`text`), the closed classes and set phrases of English (`grammar`, `idioms`,
  `negations`, `background`), and what words of a sentence say together (`gist`);
* *marks*: what grammar alone understands (`marks`, of `quantities`, `cores`, `corrections`,
  `ticks`, `utilities`, `listed`, `roles` and `asides`, which ask for nothing);
* *phrases* between them, cut where English cuts (`phrases`, `elements`, `rates`);
* *senses*: what phrases stand for in the pool (`meaning`, `sense`, `denials`);
* *subjects*: the VMs that are spoken of, and what belongs to which (`subjects`, `relations`,
  `attach`);
* what is left over, and whether it asks for something (`leftovers`).

`objective` leads through them, with a `notebook` of what was understood from which words.
"""
