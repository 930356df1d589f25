"""C of `linux/` built for this machine, so that tests can call it."""

import ctypes
import subprocess

from tenonos.linux.tools import SOURCES

INCLUDE = [f"-I{SOURCES / 'include'}", f"-I{SOURCES / 'include/uapi'}", f"-I{SOURCES / 'module'}"]
SANITIZE = ["-fsanitize=undefined", "-fno-sanitize-recover=all"]
FLAGS = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", *SANITIZE]


def library(folder, *sources, text=""):
    """A shared library of files below `linux/` and some lines of C."""
    target = folder / "library.so"
    files = [str(SOURCES / source) for source in sources]
    subprocess.run(
        ["cc", *FLAGS, *INCLUDE, "-shared", "-fPIC", "-o", target, *files, "-xc", "-"],
        input=text,
        text=True,
        check=True,
    )
    return ctypes.CDLL(str(target))


def program(folder):
    """tenonctl."""
    target = folder / "tenonctl"
    sources = sorted(str(file) for file in (SOURCES / "tenonctl").glob("*.c"))
    subprocess.run(["cc", *FLAGS, *INCLUDE, "-o", target, *sources], check=True)
    return target
