"""What is known before anything runs: of a linked image who calls whom on how much stack, of tasks
when they are done.

`a64` decodes what an instruction does to control and stack, `graph` makes the call graph of an
image, `places` finds source lines; `waiting` and `stacks` are the questions asked of them.
`response` has the response times of periodic tasks, `costs` what the kernels take of them.
"""
