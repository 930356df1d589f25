"""The commands, one module each.

`tenonos/commands/NAME.py` offers `./tenon NAME`: a function called ``command`` whose
parameters typer reads, and whose docstring's first line is the help. What the command
needs is imported inside the function, so that `./tenon --help` stays quick. The options
of `tenonos.settings` are added to every command by `tenonos.cli`; a command declares
`--json` itself, since it is a flag for some and a file for others.
"""
