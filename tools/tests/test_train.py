"""`./tenon train`, whole, with a base model of few numbers and a handful of sentences."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from tenonos import cli, paths
from tenonos.plan.reader import load, weights
from tenonos.plan.reader.base import Base
from tenonos.plan.reader.reader import Reader
from tools.bench.labelled import Labelled
from tools.reader import jax, make

sys.path.append(str(Path(paths.ROOT) / "orchestrator" / "tests" / "plan"))
import small_reader

TEXTS = {"guest.linux": "guest linux: Linux as a guest", "trace": "trace: a ring of events"}
LACKS = {"bus.can": "bus can: a CAN bus controller."}
SENTENCES = [
    ("a loop at 2 kHz and Linux", "guest.linux", "Linux"),
    ("two loops, Linux beside", "guest.linux", "Linux"),
    ("Linux and a loop", "guest.linux", "Linux"),
    ("a loop with a ring", "trace", "ring"),
    ("events in a ring", "trace", "events"),
    ("a ring of a loop", "trace", "ring"),
]


def labelled(number, author):
    text, name, words = SENTENCES[number]
    said = {"name": name, "polarity": "demanded", "span": words, "at": text.index(words)}
    vm = {"kind": "linux", "count": 1, "name": None, "role": None}
    there = name == "guest.linux"
    return Labelled(
        id=f"{author}-{number}",
        author=author,
        phrasing="plain",
        lang="en",
        text=text,
        capabilities=[said],
        vms=[vm | {"span": words, "at": text.index(words)}] if there else [],
        tasks=[],
        quantities=[],
        spans=[],
    )


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A base model of few numbers, and a handful of sentences by two authors."""
    base = tmp_path_factory.mktemp("base") / "base.bin"
    small_reader.write_base(base)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load, "provide", lambda: base)
        patch.setattr(make, "texts", lambda: (TEXTS, LACKS))
        parts = {"training": [labelled(n, "ab"[n % 2]) for n in range(len(SENTENCES))]}
        patch.setattr(make, "part", parts.__getitem__)
        patch.setattr(make, "objectives", list)
        yield base


@pytest.fixture(scope="module")
def train():
    """The module that needs jax."""
    if not jax.EXTRA.there() and not os.environ.get("CI"):
        pytest.skip("jax is not installed: ./tenon train installs it")
    jax.provide()
    from tools.reader import train

    return train


@pytest.fixture(scope="module")
def trained(small, train, tmp_path_factory):
    """The files of two trainings of seconds, and the losses of the second one."""
    folder = tmp_path_factory.mktemp("weights")
    losses = []

    def tell(line):
        if "loss" in line:
            losses.append(float(line.partition("loss ")[2].partition(",")[0]))

    few = train.Settings(alone=6, together=6, planned=6, rate=1e-2, dropout=0.0, unknown=0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train, "LAYERS", small_reader.LAYERS)
        patch.setattr(train, "FROZEN", 1)
        patch.setattr(train, "RANK", 2)
        patch.setattr(train, "BUCKETS", (32,))
        patch.setattr(train, "TOKENS", 32 * len(SENTENCES))
        patch.setattr(train, "Settings", lambda: few)
        assert cli.run(["train", "--yes", "-o", str(folder / "first")]) == 0
        make.make(folder / "second", (), tell)
    return folder / "first", folder / "second", losses


@pytest.mark.timeout(600)
def test_the_weights_are_made_again_to_the_byte(trained):
    first, second, _ = trained
    assert first.read_bytes() == second.read_bytes()
    record = weights.read(first)[1]
    assert record["base"] == load.HASH
    assert record["sentences"] == len(SENTENCES)
    assert record["lacking"] == LACKS
    assert set(record["names"]) == {*TEXTS, *LACKS}


def test_training_lowers_the_loss_and_reads_what_it_learned(trained, small):
    _, file, losses = trained
    assert np.isfinite(losses).all()
    assert losses[5] < 0.7 * losses[0]
    text, name, _ = SENTENCES[0]
    found = Reader(Base(small), file, TEXTS).read(text)
    said = {s.name: s.polarity for s in (*found.capabilities, *found.likely)}
    assert said.get(name) == "demanded"


def test_a_product_and_its_slopes_are_right_to_eight_bits(train):
    random = np.random.default_rng(5)
    value = random.standard_normal((2, 3, 64)).astype(np.float32)
    matrix = random.standard_normal((64, 16)).astype(np.float32)
    weights_of = random.standard_normal((2, 3, 16)).astype(np.float32)

    def total(value, matrix):
        return (train.product(value, matrix) * weights_of).sum()

    assert np.allclose(train.product(value, matrix), value @ matrix, atol=0.2)
    of_value, of_matrix = train.jax.grad(total, (0, 1))(value, matrix)
    assert np.allclose(of_value, weights_of @ matrix.T, atol=0.2)
    flat = value.reshape(-1, 64), weights_of.reshape(-1, 16)
    assert np.allclose(of_matrix, flat[0].T @ flat[1], atol=0.2)


def test_an_author_can_be_held_out(small):
    base = Base(small)
    every, some = make.targets(base), make.targets(base, ["b"])
    assert (len(every), len(some)) == (len(SENTENCES), len(SENTENCES) // 2)
    assert make.digest(every) != make.digest(some)
