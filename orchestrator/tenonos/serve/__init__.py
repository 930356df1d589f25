"""Commands offered to coding agents, by the Model Context Protocol.

`tools` maps each tool to a command line, `served_folder` restricts file names, `work` runs the
command line in a process, and `server` implements the protocol. So input is refused with the same
messages as on the command line.
"""

from tenonos.serve.server import serve

__all__ = ["serve"]
