"""The ends that an application states, and the channels of its system."""

import shutil
from dataclasses import replace

import pytest

from tenonos import catalogue, system
from tenonos.build import channel_ends, images
from tenonos.pool.library import End


@pytest.fixture
def lines(tmp_path):
    """The lines about the example `echo`, with another text, and with other ends."""

    def of(old="", new="", ends=None):
        folder = tmp_path / "echo"
        shutil.copytree(catalogue.systems()["echo"], folder)
        file = folder / "system.toml"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))
        made = system.load(folder)
        apps = images.space(made).apps
        if ends is not None:
            apps = {"echo": replace(apps["echo"], ends=ends)}
        return list(channel_ends.missing(made, apps))

    return of


def test_channels_of_these_names_are_enough(lines):
    assert lines() == []


def test_an_end_without_its_channel_is_named_with_its_place(lines):
    (line,) = lines('name = "requests"', 'name = "questions"')
    assert line.endswith(
        'VM "echo" receives "requests", and there is no [[channel]] of that name to it'
    )
    assert "system.toml:" in line


@pytest.mark.parametrize(
    ("does", "name", "found"),
    [
        ("sends", "replies", True),
        ("receives", "replies", False),
        ("exchanges", "replies", True),
        ("sends", "repl", False),
    ],
)
def test_direction_and_whole_name_count(lines, does, name, found):
    assert (lines(ends=(End(name, does, 8),)) == []) == found


def test_a_numbered_channel_is_of_the_name(lines):
    assert lines('name = "replies"', 'name = "replies-2"') == []
