"""The pool as it stands, loaded once for all tests of the planner."""

import pytest

from tenonos.plan.compose import compose
from tenonos.plan.pool import Pool


@pytest.fixture(scope="session")
def pool():
    return Pool()


@pytest.fixture(scope="session")
def composed(pool):
    """The composition of an objective, made once."""
    made = {}

    def get(objective, board=None):
        if (objective, board) not in made:
            made[objective, board] = compose(objective, board, pool=pool)
        return made[objective, board]

    return get
