"""The `llm` planner: a language model reads the objective, and nothing it says is taken on trust.

* `endpoint` asks any server of the OpenAI chat protocol, within time and tokens;
* `tape` keeps the replies, so that a run can be repeated without the server;
* `reply` is what a model may say, and the parser of it;
* `prompt` is what it is told;
* `check` holds each claim against the words it points at, and recomputes each number from them;
* `reader` tries, complains and tries again.

Here is the only way out to a network that composing has, and it is taken only if asked for.
"""
