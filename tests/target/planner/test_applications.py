"""Some of `bench/applications.toml`: a system composed from a sentence answers a number.

`tools/tests/test_bench_applications.py` composes all of them; `./tenon bench applications`
builds, boots and queries them.
"""

import random

import pytest

from tenonos import build, system
from tenonos.plan.compose import compose
from tenonos.plan.pool import Pool
from tenonos.run import RunOptions, Session, Target, script
from tools.bench.applications import DIALOGUE, Application, applications, attempt, without

ALL = {application.name: application for application in applications()}


@pytest.fixture(scope="module")
def pool():
    return Pool()


SOME = ["bare", "watchdog", "vote", "created", "pwm", "posix", "four-cores"]


@pytest.mark.long(40, "pool/apps", "orchestrator/tenonos/plan", "orchestrator/tenonos/templates")
@pytest.mark.parametrize("name", SOME)
def test_what_is_composed_answers_and_has_the_bytes_of_its_cards(pool, name):
    tried = attempt(ALL[name], pool, random.randrange(1, 1 << 32))
    assert tried.correct, tried.fault
    assert tried.card_error is not None
    assert abs(tried.card_error) <= 10


@pytest.mark.long(35, "orchestrator/tenonos/plan", "pool/apps/publisher")
def test_what_is_sampled_is_sent_to_linux(pool):
    asked = Application(
        name="publisher",
        text="A real-time VM samples a strain gauge every 2 ms and sends the values to Linux.",
        steps=100,
        scripts={
            "publisher": DIALOGUE,
            "linux": "expect tenon-ready\nexpect #\n"
            "send grep -m 1 -x ANSWER /dev/tenon/values\nexpect ANSWER\nexpect #\n",
        },
    )
    tried = attempt(asked, pool, random.randrange(1, 1 << 32))
    assert tried.correct, tried.fault


def test_without_a_library_it_is_not_built(pool):
    """One ablation; `./tenon bench applications --full` has all of them."""
    said = {one.library: one for one in without(ALL["watchdog"], pool, 1, lambda _: None)}
    watchdog = said["tenon/watchdog"]
    assert (watchdog.configured, watchdog.fails) == (False, "build")
    assert "pool/apps/sentinel" in watchdog.fault
    assert "tenon_watchdog" in watchdog.fault


def test_without_its_device_there_are_no_pins(pool, tmp_path):
    compose(ALL["pwm"].text, pool=pool, name="pwm").write(tmp_path)
    file = tmp_path / "system.toml"
    text = file.read_text()
    assert 'devices = ["gpio"]\n' in text
    file.write_text(text.replace('devices = ["gpio"]\n', ""))
    said = script.parse_text("expect no lamp: pl061: its system gives this image no", "it")
    made = build.build(system.load(tmp_path))
    session = Session(Target.of(made), RunOptions(scripts={"dimmer": said}), ())
    session.run()
    assert not session.problem
