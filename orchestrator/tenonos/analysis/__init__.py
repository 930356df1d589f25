"""What a linked image says of itself before it runs: who calls whom, on how much stack.

`a64` decodes what an instruction does to control and stack, `graph` makes the call graph of an
image, `places` finds source lines; `waiting` and `stacks` are the questions asked of them.
"""
