"""The cluster: workers of Dask judge as processes here do."""

import pytest

from tenonos.errors import InputError
from tenonos.explore.workers import workers


def test_a_cluster_that_does_not_answer_is_one_line():
    with pytest.raises(InputError, match="no cluster answers"), workers("tcp://127.0.0.1:9", 1):
        pass


@pytest.mark.parametrize("count", [1, 2])
def test_any_number_of_workers_answers_for_each(count, tmp_path):
    from distributed import LocalCluster

    # A system that is refused when it is read: no compiler, no emulator.
    asked = [{"system.toml": f"nothing = {number}\n"} for number in range(4)]
    with (
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            dashboard_address=None,
            local_directory=str(tmp_path),
        ) as cluster,
        workers(cluster.scheduler_address, 0) as who,
    ):
        found = dict(who.verdicts(asked, 1.0))
    assert sorted(found) == [0, 1, 2, 3]
    assert all(not verdict.built and "nothing" in str(verdict.why) for verdict in found.values())
