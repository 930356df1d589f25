"""`./tenon docs`: the pages that mdBook makes."""

import html
import re

import pytest
from conftest import assert_well

SCHEME = re.compile(r"[a-z]+:")
LINK = re.compile(r'(?:href|src)="([^"]+)"')
NAMED = re.compile(r'id="([^"]+)"')
FETCHED = re.compile(r'<(?:script|link|img)[^>]*(?:src|href)="https?:')
FRAMES = ("toc.html", "404.html")
"""Pages within others, with links as these have them."""


# The first run builds mdBook.
@pytest.mark.long(160, "orchestrator/tenonos/book.py", "orchestrator/tenonos/setup/cargo_tool.py")
@pytest.mark.timeout(1800)
def test_the_book_is_whole(tenon, tmp_path):
    folder = tmp_path / "book"
    assert_well(tenon("docs", "-o", folder, json_file=False, limit=1500))
    pages = {file.resolve(): file.read_text() for file in folder.rglob("*.html")}
    assert len(pages) > 100
    broken = []
    for page, text in pages.items():
        # Nothing is fetched from elsewhere, nor run there.
        assert "play.rust-lang.org" not in text and not FETCHED.search(text), page
        for link in map(html.unescape, LINK.findall(text)):
            target, _, part = link.partition("#")
            other = (page.parent / target).resolve() if target else page
            named = part in NAMED.findall(pages[other]) if part and other in pages else True
            if not SCHEME.match(link) and not (other.exists() and named):
                broken.append((str(page.relative_to(folder.resolve())), link))
    assert [link for link in broken if link[0] not in FRAMES] == []
    (index,) = folder.glob("searchindex-*.js")
    assert "hypercall" in index.read_text()
