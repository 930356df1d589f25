"""The `llm` planner: a language model reads the objective, and each of its claims is checked.

* `endpoint` asks a server of the OpenAI chat protocol, with limits of time and tokens;
* `tape` records the replies, so that a run can be repeated without the server;
* `reply` has the schema and the parser of replies;
* `prompt` has the messages to the model;
* `check` compares each claim with the words it refers to, and recomputes each number from them;
* `reader` repeats the question with complaints.

This is the only network access of composing, and only on request.
"""
