"""An image with handlers that may block is refused, and no other."""

from __future__ import annotations

import pytest
from assembled import NOP, RET, Program, push

from tenonos.analysis import waiting
from tenonos.analysis.graph import Graph
from tenonos.errors import WorkError


def program(handler, *, sites):
    """A program with this start of its `handler`, and with waits at `sites`."""
    return Program(
        {
            "handler": [*handler, RET],
            "give": [push(16), NOP, RET],
            "middle": [push(16), ("bl", "take"), RET],
            "take": [push(16), NOP, RET],
            "thread": [push(16), ("bl", "middle"), NOP, RET],
        },
        {".tenon.handlers": [(("handler", 0),)], ".tenon.waits": [(site,) for site in sites]},
    )


def test_a_handler_that_gives_is_fine_whatever_threads_do():
    image = program([push(16), ("bl", "give")], sites=[("take", 1), ("thread", 2)])
    assert waiting.find(Graph(image.elf())) is None
    waiting.check(Graph(image.elf()), "image")


def test_the_call_path_to_a_wait_is_reported():
    image = program([push(16), ("bl", "give"), ("bl", "middle")], sites=[("take", 1)])
    way = waiting.find(Graph(image.elf()))
    assert way is not None and way.root.name == "handler"
    wanted = (("handler", 2), ("middle", 1), ("take", 1))
    assert way.sites == tuple(image.address(*site) for site in wanted)
    with pytest.raises(WorkError, match="image: the handler handler may wait; give a semaphore"):
        waiting.check(Graph(image.elf()), "image")


def test_a_jump_instead_of_a_call_is_a_way_too():
    image = program([("b", "take")], sites=[("take", 1)])
    assert waiting.find(Graph(image.elf())) is not None


def test_an_image_that_notes_nothing_is_not_refused():
    image = program([("bl", "take")], sites=[])
    image.sections = {}
    waiting.check(Graph(image.elf()), "mortise")
