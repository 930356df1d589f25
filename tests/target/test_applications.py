"""Some of `bench/applications.toml`: what is composed of a sentence answers a number.

`orchestrator/tests/test_bench_applications.py` composes all of them; `./tenon bench applications`
builds, boots and asks them.
"""

import random

import pytest

from tenonos.bench.applications import applications, attempt
from tenonos.plan.pool import Pool

ALL = {application.name: application for application in applications()}


@pytest.fixture(scope="module")
def pool():
    return Pool()


@pytest.mark.parametrize("name", ["bare", "watchdog", "vote", "created", "pwm"])
def test_what_is_composed_answers(pool, name):
    tried = attempt(ALL[name], pool, random.randrange(1, 1 << 32))
    assert tried.correct, tried.fault
