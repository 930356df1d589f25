"""The book: its pages, and links that hold within it."""

import re

import pytest

from tenonos import book, paths
from tenonos.errors import InputError
from tenonos.settings import SETTINGS

FOLDERS = ("docs", "docs/guides", "docs/decisions", "docs/measurements")


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    place = tmp_path_factory.mktemp("book")
    book.stage(place)
    return place / "src"


def links(text):
    for piece in re.split(r"^```.*?^```$", text, flags=re.MULTILINE | re.DOTALL):
        yield from re.findall(r"\]\(([^)\s#:]+)(?:#[^)]*)?\)", piece)


def test_every_page_is_in_the_contents(staged):
    contents = re.findall(r"\]\(([^)]+)\)", (staged / "SUMMARY.md").read_text())
    assert contents[0] == "README.md"
    assert len(contents) == len(set(contents))
    wanted = {
        str(page.relative_to(paths.ROOT))
        for folder in FOLDERS
        for page in (paths.ROOT / folder).glob("*.md")
    }
    assert wanted <= set(contents)
    assert {"boards/qemu-virt/README.md", "examples/README.md", "SUPPORT.md"} <= set(contents)
    assert all((staged / page).is_file() for page in contents)


def test_every_link_leads_to_a_page_or_picture_of_the_book(staged):
    for page in staged.rglob("*.md"):
        for target in links(page.read_text()):
            file = page.parent / target.replace("index.html", "README.md")
            assert file.is_file(), f"{page.relative_to(staged)}: {target}"


def test_a_file_of_the_sources_is_named_in_place_of_a_link(staged):
    text = (staged / "docs/system.md").read_text()
    assert "[`pool/apps/beacon`]" not in text and "`pool/apps/beacon`" in text
    assert (staged / "docs/demo.svg").is_file()


def test_its_absence_is_reported_when_offline(monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "CACHE", tmp_path)
    monkeypatch.setattr(SETTINGS, "offline", True)
    with pytest.raises(InputError, match="mdbook is not installed"):
        book.make(tmp_path / "book")
