"""The trained reader: its files, tokens, numbers and claims; its figures are the model card's."""

import numpy as np
import pytest
import small_reader
from hypothesis import given, settings
from hypothesis import strategies as st

from tenonos.errors import InputError
from tenonos.plan.reader import encoder, heads, load, weights
from tenonos.plan.reader.base import Base
from tenonos.plan.reader.decode import Decoder, Scores
from tenonos.plan.reader.labels import text_of, texts_of
from tenonos.plan.reader.numbers import quantities
from tenonos.plan.reader.pieces import Piece, pieces_of
from tenonos.plan.reader.reader import Reader
from tenonos.settings import SETTINGS

TEXTS = {"guest.linux": "guest linux: Linux as a guest", "trace": "trace: a ring of events"}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    file = tmp_path_factory.mktemp("reader") / "base.bin"
    return small_reader.write_base(file), Base(file)


@pytest.fixture(scope="module")
def reader(model, tmp_path_factory):
    file = tmp_path_factory.mktemp("reader") / "weights"
    small_reader.write_weights(file, TEXTS)
    return Reader(model[1], file, TEXTS)


# Tokens


def test_tokens_are_the_best_split_with_their_places(model):
    text = "a ﬁne  Linux\nloop, 核心Ａ"
    pieces = pieces_of(text, model[1].vocabulary)
    assert [small_reader.PIECES[piece.index] for piece in pieces[-5:-1]] == [",", "▁", "核心", "A"]
    assert [text[piece.start : piece.end] for piece in pieces if piece.end - piece.start > 3] == [
        "Linux",
        "loop",
    ]


@given(st.text(max_size=50))
@settings(deadline=None)
def test_each_token_has_characters_of_the_text_in_order(model, text):
    pieces = pieces_of(text, model[1].vocabulary)
    starts = [piece.start for piece in pieces]
    assert starts == sorted(starts)
    assert all(0 <= piece.start <= piece.end <= max(len(text), 1) for piece in pieces)


def test_a_file_that_is_no_base_model_is_refused(tmp_path):
    (tmp_path / "x").write_bytes(b"no model")
    with pytest.raises(InputError, match="no base model"):
        Base(tmp_path / "x")
    with pytest.raises(InputError, match="no weights"):
        weights.read(tmp_path / "x")


# The encoder


def test_the_weights_are_those_of_the_file(model):
    tensors, base = model
    wanted = tensors["l1.fi.w"]
    found = base.matrix("l1.fi.w", small_reader.WIDTH)
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() < np.abs(wanted).max() / 7


def test_padding_changes_nothing(model):
    base = model[1]
    indices = np.array([[0, 5, 6, 7, 2]])
    short = encoder.embedded(base, indices)
    longer = encoder.embedded(base, np.pad(indices, ((0, 0), (0, 3))))
    layer = encoder.layer(base, 0)
    one = encoder.apply(np, base.shape, layer, short, np.ones((1, 5)))
    mask = np.array([[1, 1, 1, 1, 1, 0, 0, 0]])
    other = encoder.apply(np, base.shape, layer, longer, mask)[:, :5]
    assert np.allclose(one, other, atol=1e-5)


def test_an_adapter_that_is_merged_does_what_it_does_beside_the_matrix(model):
    base = model[1]
    random = np.random.default_rng(1)
    adapters = {"l0.v.down": random.normal(size=(32, 2)), "l0.v.up": random.normal(size=(2, 32))}
    states = encoder.embedded(base, np.array([[0, 9, 8, 2]]))
    beside = encoder.adapted(encoder.layer(base, 0), adapters, 0)
    mask = np.ones((1, 4))
    one = encoder.apply(np, base.shape, beside, states, mask)
    other = encoder.apply(np, base.shape, encoder.merged(beside), states, mask)
    assert np.allclose(one, other)
    assert not np.allclose(one, encoder.apply(np, base.shape, encoder.layer(base, 0), states, mask))


def test_weights_are_kept_within_their_precision(tmp_path):
    random = np.random.default_rng(2)
    arrays = {"large": random.normal(size=(128, 64)), "small": random.normal(size=7)}
    weights.write(tmp_path / "w", arrays, {"seed": 1})
    found, record = weights.read(tmp_path / "w")
    assert record == {"seed": 1}
    assert (
        np.abs(found["large"] - arrays["large"]).max() <= np.abs(arrays["large"]).max() / 254 * 1.01
    )
    assert np.allclose(found["small"], arrays["small"], atol=2e-3)
    before = (tmp_path / "w").read_bytes()
    weights.write(tmp_path / "w", arrays, {"seed": 1})
    assert (tmp_path / "w").read_bytes() == before


# Claims


@given(st.text(min_size=1, max_size=80))
@settings(deadline=None, max_examples=30)
def test_each_claim_stands_in_the_text_whatever_the_weights_say(reader, text):
    found = reader.read(text)
    claims = (*found.capabilities, *found.vms, *found.tasks, *found.quantities, *found.spans)
    for claim in claims:
        assert text.startswith(claim.span, claim.at)
        assert 0 <= claim.confidence <= 1
    values = [number.value for number in quantities(text)]
    for amount in found.quantities:
        value = amount.value
        whole = value if isinstance(value, int) or value in values else value[0]
        assert whole in values or any(isinstance(v, tuple) and len(v) == whole for v in values)
        for owner in amount.owner:
            assert (owner.task or 0) < len(found.tasks) + 1 and (owner.vm or 0) < len(found.vms) + 1


def test_a_long_text_is_cut_and_the_cut_is_told(reader, monkeypatch):
    monkeypatch.setattr("tenonos.plan.reader.reader.TOKENS", 20)
    text = "Linux loop " * 30
    found = reader.read(text)
    assert found.cut is not None and found.cut < len(text)
    assert reader.read("Linux").cut is None


def test_a_new_capability_is_read_by_its_text_alone(model, tmp_path):
    small_reader.write_weights(tmp_path / "w", TEXTS)
    more = TEXTS | {"coin": "coin: a box for coins"}
    found = Reader(model[1], tmp_path / "w", more)
    assert found.names == tuple(more)
    scores = found.scores(pieces_of("a loop", model[1].vocabulary), [])
    assert scores.polarities.shape == (3, len(heads.POLARITIES))
    known = Reader(model[1], tmp_path / "w", TEXTS)
    same = known.scores(pieces_of("a loop", model[1].vocabulary), [])
    assert np.allclose(scores.polarities[:2], same.polarities)


def test_a_capability_that_the_pool_lacks_is_known_until_the_pool_has_it(model, tmp_path):
    lacks = {"bus.can": "bus can: a CAN bus controller"}
    small_reader.write_weights(tmp_path / "w", TEXTS | lacks, lacking=lacks)
    assert Reader(model[1], tmp_path / "w", TEXTS).names == (*TEXTS, "bus.can")
    own = {"bus.can": "bus can: messages of a CAN bus"}
    assert Reader(model[1], tmp_path / "w", TEXTS | own).names == (*TEXTS, "bus.can")


class Said:
    """Scores that say exactly what a test marks."""

    def __init__(self, text, labels=2):
        self.text = text
        words = [(m, m + len(w)) for w in text.split() for m in [text.index(w)]]
        spans = [(0, 0), *words, (len(text), len(text))]
        self.pieces = [Piece(0, *span) for span in spans]
        count = len(self.pieces)
        self.polarities = np.zeros((labels, len(heads.POLARITIES)))
        self.polarities[:, 0] = 1
        self.evidence = np.full((labels, count), -9.0)
        self.marks = np.zeros((count, len(heads.GROUPS), 3))
        self.marks[:, :, 0] = 1
        self.counts = np.zeros((count, 2, heads.MOST))
        self.relations = np.full((len(heads.RELATIONS), count, count), -9.0)
        self.numbers = quantities(text)
        self.roles = np.zeros((len(self.numbers), len(heads.ROLES)))

    def mark(self, group, first, last):
        for at in range(first, last):
            self.marks[at, heads.GROUPS.index(group)] = [0, at == first, at > first]

    def relate(self, relation, start, end):
        self.relations[heads.RELATIONS.index(relation), start, end] = 9

    def reading(self):
        scores = Scores(
            self.polarities, self.evidence, self.marks, self.counts, self.relations, self.roles
        )
        return Decoder(self.text, self.pieces, scores, self.numbers).reading(["a", "b"], None)


def test_scores_become_vms_tasks_and_quantities_with_their_owners():
    said = Said("two pump guests each regulate at 1 kHz beside Linux")
    said.mark("vm.tenon", 1, 4)
    said.mark("vm.linux", 10, 11)
    said.mark("task", 5, 6)
    said.mark("name", 2, 3)
    said.counts[1, 0, 1] = 9
    said.relate("task-vm", 5, 1)
    said.relate("name-vm", 2, 1)
    (rate,) = (at for at, n in enumerate(said.numbers) if n.dimension == "rate")
    said.roles[:, 0] = 0.1
    said.roles[rate, heads.ROLES.index("period")] = 0.9
    said.relate("quantity-task", 7, 5)
    found = said.reading()
    assert [(vm.kind, vm.count, vm.name) for vm in found.vms] == [
        ("tenon", 2, "pump"),
        ("linux", 1, None),
    ]
    assert [(task.span, task.vm) for task in found.tasks] == [("regulate", 0)]
    (period,) = found.quantities
    assert (period.role, period.value, period.unit) == ("period", 1_000_000, "ns")
    assert [owner.task for owner in period.owner] == [0]


def test_a_role_fits_the_dimension_of_its_quantity():
    said = Said("64 MB for it")
    said.roles[0, heads.ROLES.index("period")] = 0.9
    said.roles[0, heads.ROLES.index("ram")] = 0.08
    (amount,) = said.reading().quantities
    assert (amount.role, amount.value, amount.unit) == ("ram", 64 << 20, "bytes")


def test_a_statement_has_the_words_around_its_surest_token():
    said = Said("it has no shell on it")
    said.polarities[1] = [0, 0, 1, 0, 0, 0]
    said.evidence[1, 3:5] = 2
    (statement,) = said.reading().capabilities
    assert (statement.name, statement.polarity, statement.span) == ("b", "forbidden", "no shell")


def test_what_is_demanded_and_forbidden_are_two_statements_with_words_of_their_own():
    said = Said("without any shell, an operator types commands")
    said.polarities[1] = [0, 0, 0, 0, 0, 1]
    said.evidence[1, 1:4] = 2
    said.evidence[1, 5:8] = 1
    found = [(each.polarity, each.span) for each in said.reading().capabilities]
    assert found == [
        ("forbidden", "without any shell,"),
        ("demanded", "operator types commands"),
    ]


def test_of_vms_that_overlap_the_surer_one_is_kept():
    said = Said("the Linux box")
    said.mark("vm.linux", 2, 4)
    said.mark("vm.other", 2, 3)
    said.marks[2, heads.GROUPS.index("vm.other")] = [0.4, 0.6, 0]
    assert [vm.kind for vm in said.reading().vms] == ["linux"]


# Its texts and files


def test_a_capability_is_known_by_name_help_and_keywords(pool):
    texts = texts_of(pool.entries.values())
    assert texts["guest.linux"].startswith("guest linux: ")
    assert len(text_of("x", "word " * 200).split()) == 48


def test_the_weights_of_the_tree_are_small_and_name_their_base():
    assert load.WEIGHTS.stat().st_size < 30 << 20
    _, record = weights.read(load.WEIGHTS)
    assert record["base"] == load.HASH and not record["without"]
    assert load.LOCK.read_text().count("--hash=sha256:") == 1


def test_the_base_model_is_not_fetched_offline(monkeypatch, tmp_path):
    monkeypatch.setattr(load, "FILE", tmp_path / "none")
    monkeypatch.setattr(SETTINGS, "offline", True)
    with pytest.raises(InputError, match="base model is missing"):
        load.provide()


def test_the_trained_reader_reads_in_each_language(pool):
    if not load.there():
        pytest.skip("the base model is not on this machine: ./tenon train fetches it")
    found = load.reader(pool)
    for text in (
        "Linux beside a 1 kHz motor control loop, no shell",
        "Linux neben einer Motorregelung mit 1 kHz, keine Shell",
    ):
        reading = found.read(text)
        said = {(s.name, s.polarity) for s in reading.capabilities}
        assert {("guest.linux", "demanded"), ("shell", "forbidden")} <= said
        assert [(q.role, q.value) for q in reading.quantities] == [("period", 1_000_000)]
