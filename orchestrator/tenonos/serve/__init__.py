"""Commands offered to coding agents, by the Model Context Protocol.

`tools` says what each takes and which command line that is, `places` which files it may
name, `work` runs that line as a process of its own, and `server` speaks the protocol. So
what the command line refuses is refused here too, in the same words.
"""

from tenonos.serve.server import serve

__all__ = ["serve"]
