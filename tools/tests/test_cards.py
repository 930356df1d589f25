"""Cards: text, division between libraries, staleness, sums."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenonos.analysis.stacks import Need
from tenonos.cards import card
from tenonos.cards.card import Card, Part, Size, total
from tenonos.cards.estimate import PER_LINE, Estimates
from tenonos.errors import InputError
from tenonos.pool.library import index
from tenonos.system import find
from tools.bench.row import Row
from tools.cards import measure, operations, specimens, stale

HELLO = find("hello")

sizes = st.builds(Size, *[st.integers(-(1 << 20), 1 << 20)] * 4)


@given(size=sizes, weights=st.dictionaries(st.text(max_size=3), st.integers(1, 999), min_size=1))
def test_shares_add_up_to_the_whole(size, weights):
    assert total(size.shares(weights).values()) == size


parts = st.builds(
    Part, st.just("hello/hello"), sizes, st.integers(0, 99), st.none() | st.integers(0, 9)
)


@given(
    operations=st.dictionaries(st.sampled_from(["give", "take"]), st.integers(0, 999)),
    parts=st.dictionaries(st.sampled_from(card.KINDS), parts),
)
def test_a_card_is_read_as_it_was_written(tmp_path_factory, operations, parts):
    file = tmp_path_factory.mktemp("cards") / "list.toml"
    one = Card("core/list", "1f", "1.90.0", operations, parts)
    file.write_text(one.text())
    assert card.read(file) == one


def test_what_is_no_card_is_said_in_one_line(tmp_path):
    file = tmp_path / "x.toml"
    file.write_text('library = "core/list"\n')
    with pytest.raises(InputError, match=r"x\.toml: not a card: 'digest'; make it again"):
        card.read(file)


def test_only_what_changed_is_written_and_what_went_is_removed(tmp_path):
    cards = [Card("core/list"), Card("apps/hello")]
    assert card.keep(cards, tmp_path) == 2
    assert card.keep(cards, tmp_path) == 0
    assert card.keep(cards[:1], tmp_path) == 1
    assert list(card.load(tmp_path)) == ["core/list"]


def specimen(name, libraries, settings=0, kind="tenon"):
    """An image as the choice of specimens sees it."""
    image = SimpleNamespace(
        name=name,
        kind=kind,
        libraries=[SimpleNamespace(id=library) for library in libraries],
        config=SimpleNamespace(minimal="CONFIG_X=y\nCONFIG_LIB_Y=y\n" * settings),
    )
    return specimens.Specimen(SimpleNamespace(name="s", file=HELLO), image)


def test_the_plainest_images_that_have_everything_are_chosen():
    odd = specimen("odd", "ab", settings=1)
    small, same = specimen("small", "ab"), specimen("tame", "ab")
    large = specimen("large", "abc")
    host = specimen("host", "a", kind="mortise")
    found = specimens.choose([odd, same, large, host, small])
    assert [one.name for one in found] == ["s/host", "s/small", "s/large", "s/odd"]
    again = specimen("again", "ab", settings=2)
    assert again not in specimens.choose([odd, again, small])
    assert again.parts == {"a", "b", "settings/X"}
    # The cost without the setting is unknown for parts of images with it only.
    alone = specimen("alone", "abd", settings=1)
    assert [one.name for one in specimens.choose([alone, small])] == ["s/small", "s/alone"]
    assert odd in specimens.choose([alone, odd, small])


def dissected(name, libraries, size, **written):
    return measure.Dissected(specimen(name, libraries), size, written, {"a": Need(64)})


def test_the_smallest_image_is_taken_apart_and_of_others_only_what_is_new():
    small = dissected("small", "ab", Size(100, 20, 0, 500), a=30, b=50, rust=20)
    large = dissected("large", "abcd", Size(180, 26, 4, 500), a=60, b=50, c=9, d=29)
    found = measure._parts("tenon", [large, small])
    assert found["a"] == Part("s/small", Size(text=30), 30, 64)
    assert found["b"].stack is None
    assert found["kernels/tenon"].size == Size(20, 20, 0, 500)
    assert found["c"].size == Size(20, 1, 1, 0)
    assert found["d"].size == Size(60, 5, 3, 0)
    for one in (small, large):
        names = ["kernels/tenon", *one.specimen.libraries]
        assert total(found[name].size for name in names) == one.size


def test_a_setting_costs_what_an_image_has_more_than_its_libraries():
    small = dissected("small", "ab", Size(100), a=30)
    large = dissected("large", "abc", Size(180), a=30, c=19)
    odd = replace(
        dissected("odd", "abc", Size(250), a=60, c=40), specimen=specimen("odd", "abc", settings=1)
    )
    found = measure._parts("tenon", [odd, small, large])
    assert found["c"].size == Size(80)
    assert found["settings/X"].size == Size(70)


ROW = Row("timer", "start", {}, 1, 40, 49, 49, 60)


def test_an_operation_is_the_highest_median_of_its_rows():
    library = SimpleNamespace(operations={"start": "timer/start"})
    assert operations.of(library, [ROW, replace(ROW, median=51)]) == {"start": 51}


def test_an_operation_that_is_not_measured_is_said(tmp_path):
    library = SimpleNamespace(operations={"go": "timer/go"}, manifest=tmp_path / "Cargo.toml")
    with pytest.raises(InputError, match="the bench has no row timer/go"):
        operations.of(library, [ROW])


def test_a_library_without_a_card_is_estimated_by_its_lines():
    libraries = index().by_id
    empty = Estimates({}, libraries)
    assert empty.size("tenon", "core/list").loaded > 50 * PER_LINE
    assert not empty.measured("tenon", "core/list")
    known = Card("core/list", parts={"tenon": Part("s/i", Size(7, 2, 1, 50), written=7)})
    some = Estimates({"core/list": known}, libraries)
    assert some.size("tenon", "core/list").loaded == 10
    assert 0 < some.size("tenon", "core/ring").loaded < 200
    assert some.image("tenon", ["core/list"]).total == 60
    # What is estimated is 10 bytes for each.
    assert some.error([("tenon", ["core/list"], Size(8))]) == 25
    assert some.error([("tenon", ["core/list"], Size(rodata=10))] * 2) == 0
    assert some.error([("tenon", ["core/list"], Size(10, data=10, bss=70))]) == -50


@pytest.fixture(scope="module")
def here():
    """The images of the tree, once."""
    return list(specimens.of_tree())


def made(library, of, **more):
    """A fresh card."""
    part = Part(of.name, Size())
    return Card(library, stale.digest(library, [of]), stale.compiler(), {}, {of.image.kind: part})


def test_an_application_is_measured_with_the_device_it_drives(here):
    # Without one the compiler leaves all that is for it out: a card of -434 bytes.
    (dimmer,) = (one for one in here if one.name == "alone-dimmer/dimmer")
    assert [vm.devices for vm in dimmer.system.vms] == [("gpio",)]
    (publisher,) = (one for one in here if one.name == "alone-publisher/publisher")
    assert not any(vm.devices for vm in publisher.system.vms)


def test_a_card_is_stale_once_its_library_is_another(here, monkeypatch):
    monkeypatch.setattr(stale, "of_tree", lambda: here)
    one = next(specimen for specimen in here if specimen.image.kind == "tenon")
    fresh = made("core/list", one)
    why = dict(stale.stale({"core/list": fresh}))
    assert "core/list" not in why and why["core/ring"] == "it was never measured"
    cards = {
        "core/list": replace(fresh, digest="0"),
        "core/ring": replace(made("core/ring", one), compiler="1.0.0"),
        "core/log": replace(fresh, library="core/log", parts={"tenon": Part("no/no", Size())}),
        "core/gone": replace(fresh, library="core/gone"),
    }
    why = dict(stale.stale(cards))
    assert why["core/list"] == "its sources or the options are others"
    assert why["core/ring"].startswith("it was measured with Rust 1.0.0, here is ")
    assert why["core/log"] == "it was measured in no/no, which is no more"
    assert why["core/gone"] == "no system has it any more"


def test_a_digest_is_of_sources_and_not_of_tests(here, tmp_path):
    one = next(specimen for specimen in here if specimen.image.kind == "tenon")
    (tmp_path / "src").mkdir()
    (tmp_path / "Kconfig").write_text("config LIB_CORE_LIST\n")
    (tmp_path / "src/lib.rs").write_text("fn f() {}\n")
    moved = replace(index().by_id["core/list"], path=tmp_path)
    changed = replace(one, image=replace(one.image, libraries=(moved,)))
    first = stale.digest("core/list", [changed])
    (tmp_path / "src/tests.rs").write_text("fn t() {}\n")
    assert stale.digest("core/list", [changed]) == first
    (tmp_path / "src/lib.rs").write_text("fn g() {}\n")
    assert stale.digest("core/list", [changed]) != first


def test_what_declares_operations_names_rows_that_there_are():
    from tools.bench.figures import figures

    known = {f"{figure.suite}/{figure.name}" for figure in figures().all}
    declared = {row for library in index().libraries for row in library.operations.values()}
    assert declared and declared <= known
