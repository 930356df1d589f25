"""The cluster: workers of Dask judge as processes here do."""

from contextlib import contextmanager
from pathlib import Path

import pretended
import pytest

from tenonos.errors import InputError
from tenonos.explore.journal import Journal
from tenonos.explore.search import Search
from tenonos.explore.space import Space
from tenonos.explore.workers import workers

INSTEAD = f"""\
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import pretended
from tenonos.explore import oracle
oracle.judge = pretended.judge
"""


@contextmanager
def cluster(count, folder, preload=()):
    """Workers of a cluster on this machine, and its address."""
    from distributed import LocalCluster

    with (
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            dashboard_address=None,
            local_directory=str(folder),
            preload=list(preload),
        ) as found,
        workers(found.scheduler_address, 0) as who,
    ):
        yield who


def test_a_cluster_that_does_not_answer_is_one_line():
    with pytest.raises(InputError, match="no cluster answers"), workers("tcp://127.0.0.1:9", 1):
        pass


@pytest.mark.parametrize("count", [1, 2])
def test_any_number_of_workers_answers_for_each(count, tmp_path):
    # A system that is refused when it is read: no compiler, no emulator.
    asked = [{"system.toml": f"nothing = {number}\n"} for number in range(4)]
    with cluster(count, tmp_path) as who:
        found = dict(who.verdicts(asked, 1.0))
    assert sorted(found) == [0, 1, 2, 3]
    assert all(not verdict.built and "nothing" in str(verdict.why) for verdict in found.values())


def test_two_workers_find_the_front_of_one(composed, pool, tmp_path):
    """With an oracle that knows the answer; the true one is in test_explore.py."""
    instead = tmp_path / "instead.py"
    instead.write_text(INSTEAD)
    space = Space.of(composed("a 1 kHz motor-control loop"), pool)
    searches = []
    for count in (1, 2):
        folder = tmp_path / str(count)
        folder.mkdir()
        with cluster(count, folder, [str(instead)]) as who:
            journal = Journal.opened(folder / "explored.jsonl")
            search = Search(space, journal, who, 1.0, 60, lambda text: None)
            search.run()
        searches.append(search)
    one, two = searches
    assert (two.front, two.found) == (one.front, one.found)
    assert len(one.front) == 2 and len(one.found) > len(space.settings)
    expected = {
        alternative: pretended.judge(space.made(alternative), 1.0) for alternative in one.found
    }
    assert one.found == expected
