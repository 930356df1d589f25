"""Commands of gdb for a system of several VMs: symbols apart, breakpoints in one VM, threads.

`commands` runs in the debugger of `./tenon run --gdb`, `probe` in a second one that has the image
of one VM. They alone import `gdb`; the other modules are plain Python. All are imported by the
Python of gdb, which has no packages besides the standard library.
"""
