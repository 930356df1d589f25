"""What a model may say of one objective: the pieces that the tests put together."""

TEXT = "a 1 kHz motor loop with 64 MiB beside Linux"


def vm(words, kind="tenon", name="a"):
    return {"name": name, "kind": kind, "from": words}


def claim(kind, words, name=None, vm="a", at_most=False):
    return {"kind": kind, "name": name, "vm": vm, "at_most": at_most, "from": words}


def reply(vms=(), demands=(), missing=(), ignored=()):
    def remarks(pairs):
        return [{"from": words, "why": "so"} for words in pairs]

    return {
        "vms": list(vms),
        "demands": list(demands),
        "missing": remarks(missing),
        "ignored": remarks(ignored),
    }


LOOP = claim("capability", "motor loop", "control.loop")
VMS = [vm("motor loop"), vm("Linux", "linux", "b")]
NUMBERS = [claim("period", "1 kHz"), claim("ram", "64 MiB")]
GOOD = reply(VMS, [LOOP, *NUMBERS])
