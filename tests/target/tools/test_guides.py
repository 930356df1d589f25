"""The guides, each followed to the letter in an empty folder."""

import pages
import pytest
from conftest import ROOT

FOLDER = ROOT / "docs" / "guides"
NAMES = sorted(page.stem for page in FOLDER.glob("*.md") if page.name != "README.md")
LONG = {
    "c-beside-linux": pytest.mark.long(40, "docs/guides", "pool/tenon/posix"),
    "tenon-and-linux": pytest.mark.long(45, "docs/guides", "pool/tenon/channel", "linux"),
}
"""Guides that take long; a plain run follows them if they, or what they are about, changed."""


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG.get(name, ())) for name in NAMES])
def test_guide(name, tmp_path):
    said = pages.follow(FOLDER / f"{name}.md", tmp_path)
    print("\n--------\n".join(said))
    assert said


PAGE = """
The file

`a/letters`:

```c
a
b 17
c
```

```sh
cat a/letters
```

```text varies
a
b 4
…
```

```sh fails
cat a/digits
```

```text
cat: …: No such file or directory
```
"""


def test_a_page_is_followed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    letters, missing = pages.follow(page, tmp_path)
    assert letters == (tmp_path / "a/letters").read_text() == "a\nb 17\nc\n"
    assert "a/digits" in missing


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("varies\na\nb 4", "\na\nb 4"),
        ("varies\na\nb 4", "varies\nb 4\na"),
        ("sh fails", "sh"),
        ("```sh\ncat", "```sh fails\ncat"),
        ("`a/letters`:", "letters"),
        ("`a/letters`:", "`../letters`:"),
    ],
    ids=["number", "order", "failure", "success", "nameless", "elsewhere"],
)
def test_a_page_that_does_not_hold_is_noticed(tmp_path, right, wrong):
    page = tmp_path / "page.md"
    assert right in PAGE
    page.write_text(PAGE.replace(right, wrong))
    with pytest.raises(AssertionError):
        pages.follow(page, tmp_path)
