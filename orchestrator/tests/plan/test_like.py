"""Changes of an existing system by a sentence."""

import json

import pytest

from tenonos import cli
from tenonos.plan.compose import compose
from tenonos.plan.like import Like
from tenonos.plan.planner import Offline

LOOP = "a 1 kHz control loop beside Linux"


@pytest.fixture
def changed(pool):
    def get(change, before=LOOP):
        using = Like(Offline(), before, change)
        return compose(using.objective, pool=pool, using=using)

    return get


def periods(answer):
    return [item.value for item in answer.plan if item.kind == "period"]


def test_a_number_takes_the_place_of_the_former_one(changed):
    answer = changed("now at 2 kHz")
    assert periods(answer) == [500_000]
    assert [*answer.images] == ["mortise", "motor", "linux"]
    (item,) = (item for item in answer.plan if item.kind == "period")
    assert answer.objective[slice(*item.span)] == item.source == "2 kHz"


def test_files_on_a_disk_are_those_of_the_loop(changed):
    answer = changed("now at 2 kHz, and log to a disk")
    assert periods(answer) == [500_000]
    assert [*answer.images] == ["mortise", "historian", "linux"]
    assert 'vm = "historian"' in answer.files["system.toml"]
    assert not answer.assumptions


def test_a_capability_is_added_and_the_rest_stays(changed):
    answer = changed("with event tracing")
    assert "trace" in answer.images["motor"].capabilities
    assert periods(answer) == [1_000_000]
    assert "linux" in answer.images


def test_what_is_excluded_is_gone(changed):
    answer = changed("no Linux")
    assert [image.kind for image in answer.images.values()] == ["mortise", "tenon"]


def test_a_demand_ends_a_prohibition(changed):
    answer = changed("with event tracing", "a 1 kHz control loop without tracing")
    assert "trace" in answer.images["motor"].capabilities


def test_the_folder_is_changed_and_can_be_changed_again(tmp_path):
    folder = tmp_path / "loop"
    assert cli.run(["compose", LOOP, "-o", str(folder)]) == 0
    for change, period in (("now at 2 kHz", "500us"), ("now at 4 kHz", "250us")):
        assert cli.run(["compose", "--like", str(folder), change]) == 0
        assert f'period = "{period}"' in (folder / "system.toml").read_text()
    assert json.loads((folder / "explain.json").read_text())["objective"].endswith("now at 4 kHz")


def test_a_folder_that_is_no_composition_is_refused(tmp_path, capsys):
    assert cli.run(["compose", "--like", str(tmp_path), "now at 2 kHz"]) == 2
    assert "is not a composition" in capsys.readouterr().err
