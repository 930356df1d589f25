"""The commands, one module each.

`tenonos/commands/NAME.py` implements `./tenon NAME`: a function ``command`` with parameters for
typer, and with the help text as its docstring. Its imports are inside the function, so that
`./tenon --help` stays quick. `tenonos.cli` adds the options of `tenonos.settings` to every command;
`tenonos.options` has arguments that several commands share.
"""
