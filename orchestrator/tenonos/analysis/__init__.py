"""Static analysis: call graphs and stack bounds of linked images, response times of tasks.

`a64` decodes the effect of instructions on control flow and stack, `graph` builds the call graph of
an image, `source_locations` finds source lines; `waiting` and `stacks` evaluate them. `response`
computes response times of periodic tasks, `costs` has the kernels' overhead.
"""
