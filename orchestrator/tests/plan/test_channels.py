"""Channels and VMs made on demand: from the words of an objective to `system.toml`."""

import json

import pytest

from tenonos import cli, system
from tenonos.plan.report import made_lines
from tenonos.system.schema import parse

FILTER = "a floating-point filter with telemetry to Linux"
CREATED = "a controller created from Linux on demand that takes setpoints"


def ways(answer):
    return {(channel.name, channel.origin, channel.to) for channel in answer.channels}


@pytest.mark.parametrize(
    ("objective", "found"),
    [
        (FILTER, {("telemetry", "filter", "linux")}),
        (
            "two partitions that vote",
            {("vote-1", "voter-1", "voter-2"), ("vote-2", "voter-2", "voter-1")},
        ),
        (
            "a 1 kHz control loop that sends telemetry to Linux",
            {("reports", "governor", "linux")},
        ),
        (
            "set-points come from Linux to a 1 kHz loop",
            {("setpoints", "linux", "governor")},
        ),
        (
            "a 1 kHz control loop that talks to Linux",
            {("reports", "governor", "linux"), ("setpoints", "linux", "governor")},
        ),
        ("a 1 kHz control loop beside Linux", set()),
        ("a smoothing filter beside Linux", set()),
    ],
)
def test_channels_lead_where_the_words_say(composed, tmp_path, objective, found):
    answer = composed(objective)
    assert ways(answer) == found
    assert ("ipc.channel" in answer.images["mortise"].capabilities) == bool(found)
    spec, _ = parse(answer.files["system.toml"], "system.toml")
    assert {(c.name, c.origin, c.to) for c in spec.channel} == found
    answer.write(tmp_path)
    assert len(system.load(tmp_path).channels) == len(found)


def test_vms_without_both_ends_have_an_application_that_exchanges(composed):
    text = (
        "Two guests, primary and standby, each with a 10 ms loop, exchange messages over a channel."
    )
    answer = composed(text)
    assert ways(answer) == {
        ("link-1", "task-set-1", "task-set-2"),
        ("link-2", "task-set-2", "task-set-1"),
    }
    for vm in ("task-set-1", "task-set-2"):
        assert {"ipc.channel", "control.loop"} <= {*answer.images[vm].capabilities}


def test_each_channel_points_at_its_words(composed):
    (telemetry,) = composed(FILTER).channels
    assert (telemetry.words, telemetry.rule) == ("telemetry", None)
    assert FILTER[slice(*telemetry.span)] == telemetry.words
    votes = composed("two partitions that vote").channels
    assert {(vote.words, vote.rule) for vote in votes} == {("vote", "ends-of-the-application")}
    assert len({vote.name for vote in composed("three partitions that vote").channels}) == 6


@pytest.mark.parametrize(
    ("objective", "reason"),
    [
        ("a voter", "no VM has the other end"),
        ("a voter on bare metal", "no VM has the other end"),
        (
            "a smoothing filter with telemetry",
            "filter sends telemetry, and no VM has the other end",
        ),
        ("two cache-coloured voters", "shares no memory and can have no channels"),
        ("two voters without channels", "no configuration of"),
    ],
)
def test_a_channel_without_another_end_is_refused(composed, objective, reason):
    answer = composed(objective)
    assert answer.conflict
    assert reason in answer.reason


def test_a_word_for_an_application_names_one_only_where_nothing_else_does(composed):
    images = composed("a floating-point filter at 1 kHz").images
    assert list(images) == ["mortise", "filter"]
    images = composed("a 1 kHz control loop with a floating-point filter").images
    assert list(images) == ["mortise", "motor"]
    assert "fp.context" in images["motor"].capabilities


def test_two_linuxes_have_nothing_of_ours_to_talk_by(composed):
    answer = composed("two Linux guests that exchange messages")
    assert [m.capability for m in answer.missing] == ["ipc.channel"]


def test_a_vm_that_linux_spins_up_and_throws_away_is_a_template(composed):
    told = "Linux spins up an extra controller whenever a joint is plugged in, and throws it away."
    answer = composed(told)
    assert "virt.template" in answer.images["mortise"].capabilities
    assert "throws it away" in [said.source for said in answer.ignored]


def test_a_vm_created_from_linux_is_a_template(composed, tmp_path):
    answer = composed(CREATED)
    (template,) = answer.templates
    assert (template.name, template.made_by, template.start_on) == (
        "governor",
        "linux",
        "setpoints",
    )
    assert CREATED[slice(*template.span)] == template.words
    answer.write(tmp_path / "made")
    loaded = system.load(tmp_path / "made")
    (linux,) = loaded.vms
    assert [each.vm.name for each in loaded.templates] == list(linux.manages.vms) == ["governor"]
    assert linux.cpus == (0, 1, 2, 3)
    assert loaded.reserve.cpus == linux.manages.cpus == loaded.templates[0].vm.cpus == (3,)
    assert linux.manages.memory == loaded.reserve.memory >= loaded.templates[0].vm.memory
    assert {"virt.template", "virt.dispatch"} <= set(answer.images["mortise"].capabilities)


@pytest.mark.parametrize(
    ("objective", "made"),
    [
        ("a control loop created from Linux", ["motor"]),
        ("a control loop on core 2 that is started by Linux", ["motor"]),
        ("two control loops created from Linux", ["motor-1", "motor-2"]),
        ("Linux and a 1 kHz control loop that it can pause", []),
        ("a 1 kHz control loop beside Linux, and VMs that are created from Linux", []),
    ],
)
def test_only_what_is_created_is_no_vm_at_boot(composed, tmp_path, objective, made):
    answer = composed(objective)
    assert [template.name for template in answer.templates] == made
    answer.write(tmp_path)
    loaded = system.load(tmp_path)
    assert [template.vm.name for template in loaded.templates] == made
    assert not set(made) & {vm.name for vm in loaded.vms}


def test_without_linux_no_vm_is_created_on_demand(composed):
    answer = composed("a control loop that is started on demand, without Linux")
    assert [m.capability for m in answer.missing] == ["virt.template"]


def test_linux_is_the_default_creator_of_vms(composed):
    answer = composed("a control loop that is started on demand")
    assert answer.templates and answer.images["linux"].kind == "linux"
    assert "a-linux-that-does-it" in {item.rule for item in answer.plan}


def test_a_vm_created_on_demand_has_one_core_of_its_manager(composed):
    answer = composed("a control loop on two cores, created from Linux")
    assert "is created on demand, on one core of its manager" in answer.reason


def test_what_is_made_is_shown_and_explained(composed, capsys, tmp_path):
    answer = composed(CREATED)
    said = made_lines(answer.channels, answer.templates, answer.devices)
    assert (
        "channel setpoints: linux writes, governor reads, 16 messages of up to 64 bytes"
        in (said[1])
    )
    assert "governor is created by linux (tenonctl instantiate governor)" in said[2]
    assert "with 16M of 32M in reserve, from “created from”" in said[2]
    answer.write(tmp_path)
    record = json.loads((tmp_path / "explain.json").read_text())
    assert [c["from"] for c in record["channels"]] == ["governor", "linux"]
    assert cli.run(["explain", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert all(line in shown for line in said)
