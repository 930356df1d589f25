"""A soak of 100 s of virtual time; `./tenon test --soak` runs the whole day."""

from tools.testing import soak


def test_no_release_is_lost_early_or_drifts():
    fast, slow = soak.run(soak.SHORT)
    assert (fast.hertz, slow.hertz) == (1000, 10)
    assert fast.is_well and slow.is_well, (fast.line, slow.line)
    assert slow.releases == 1000 and fast.releases == 10_000


def test_what_went_wrong_is_read():
    said = "soak hertz=10 releases=100 lost=1 early=0 left_out=0 drift_ns=-16 late_ns=200..300"
    (slow,) = soak.read(["soak hertz=10 releases=10 lost=0 early=0", said])
    assert not slow.is_well and slow.drift_ns == -16 and slow.late_ns == (200, 300)
