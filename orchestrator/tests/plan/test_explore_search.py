"""The search: the same front with any workers, and no alternative evaluated twice."""

import json
import random

import pretended
import pytest

from tenonos.explore import search as searching
from tenonos.explore.journal import Journal
from tenonos.explore.oracle import Verdict
from tenonos.explore.search import Search, front
from tenonos.explore.smallest import Smallest
from tenonos.explore.space import Deviation, Space, shortened


class Pretended:
    """Simulated workers that know the answer, and complete in any order."""

    def __init__(self, seed=0, dies_after=None):
        self.order = random.Random(seed)
        self.judged = 0
        self.dies_after = dies_after

    def verdicts(self, asked, seconds):
        places = list(range(len(asked)))
        self.order.shuffle(places)
        for place in places:
            if self.judged == self.dies_after:
                raise KeyboardInterrupt
            self.judged += 1
            yield place, pretended.judge(asked[place], seconds)


@pytest.fixture
def search(composed, pool, tmp_path):
    space = Space.of(composed("a 1 kHz motor-control loop"), pool)

    def make(who, most=1000):
        journal = Journal.opened(tmp_path / "explored.jsonl")
        made = Search(space, journal, who, 1.0, most, lambda text: None)
        return made

    return make


def test_the_front_has_what_nothing_else_beats(search):
    made = search(Pretended())
    made.run()
    names = {shortened(alternative) for alternative in made.front}
    assert names == {
        "motor: no TENON_THREAD_PANIC_MESSAGE",
        "motor: OPTIMISE_SIZE, motor: no TENON_THREAD_PANIC_MESSAGE",
    }
    unsafe = (Deviation("motor", "TENON_THREAD_PROTECTION", False),)
    assert made.found[unsafe].why == "motor stopped: data-abort"


def test_the_order_of_completion_has_no_effect(search, tmp_path):
    fronts = []
    for seed in range(5):
        (tmp_path / "explored.jsonl").unlink(missing_ok=True)
        made = search(Pretended(seed), most=40)
        made.run()
        fronts.append((made.front, list(made.found)))
    assert all(one == fronts[0] for one in fronts)


def test_a_killed_search_resumes(search, tmp_path):
    whole = search(Pretended(), most=40)
    whole.run()
    (tmp_path / "explored.jsonl").unlink()
    with pytest.raises(KeyboardInterrupt):
        search(Pretended(dies_after=7), most=40).run()
    with (tmp_path / "explored.jsonl").open("a") as file:
        file.write('{"key": "cut o')
    rest = Pretended()
    again = search(rest, most=40)
    again.run()
    assert rest.judged == len(whole.found) - 7
    assert (again.front, again.found) == (whole.front, whole.found)
    lines = (tmp_path / "explored.jsonl").read_text().splitlines()
    assert len(lines) == len(whole.found) and all(json.loads(line) for line in lines)


def test_other_sources_are_judged_again(search, monkeypatch):
    search(Pretended(), most=5).run()
    monkeypatch.setattr("tenonos.explore.journal.sources", lambda: "changed")
    who = Pretended()
    search(who, most=5).run()
    assert who.judged == 5


def test_it_ends_when_enough_were_judged(search):
    who = Pretended()
    search(who, most=3).run()
    assert who.judged == 3


def test_the_smallest_is_found_a_setting_at_a_time(search):
    who = Pretended()
    made = search(who)
    made.shrink()
    small = min((a for a, v in made.found.items() if v.good), key=lambda a: made.found[a].size)
    assert shortened(small) == "motor: OPTIMISE_SIZE, motor: no TENON_THREAD_PANIC_MESSAGE"
    # The smallest of all does not run, and is not taken along.
    unsafe = Deviation("motor", "TENON_THREAD_PROTECTION", False)
    assert any(unsafe in alternative for alternative in made.found)
    assert who.judged <= 1 + len(made.space.settings)


def test_what_is_not_good_together_is_taken_in_halves(composed, pool):
    space = Space.of(composed("a 1 kHz motor-control loop"), pool)
    saving = {
        ("tenon", "OPTIMISE_SIZE", True): -300,
        ("tenon", "TENON_THREAD_PANIC_MESSAGE", False): -50,
        ("tenon", "TENON_THREAD_PROTECTION", False): -10,
    }
    rest = {(space.kind(s.image), s.symbol, s.value): 0 for s in space.settings}
    search = Smallest(space, lambda one: pretended.judge(space.made(one), 1.0), rest | saving)
    search.run()
    assert search.verdict.size == 650
    assert shortened(search.best) == "motor: OPTIMISE_SIZE, motor: no TENON_THREAD_PANIC_MESSAGE"


def test_nothing_is_searched_around_what_does_not_work(search, monkeypatch):
    bad = Verdict(built=False, why="no room")
    monkeypatch.setattr(pretended, "judge", lambda files, seconds: bad)
    made = search(Pretended())
    made.run()
    assert list(made.found) == [()] and made.front == []


def test_of_equals_the_one_that_deviates_least_is_on_the_front():
    same = Verdict(True, True, True, None, 1, 1, 1)
    one = Deviation("motor", "A", True)
    assert front({(one,): same, (): same}) == [()]
    assert searching.front({}) == []
