"""The guides, each followed to the letter in an empty folder."""

import shutil

import pages
import pytest
from conftest import ROOT

FOLDER = ROOT / "docs" / "guides"
LONG = {
    "c-beside-linux",
    "debugging",
    "own-board",
    "raspberry-pi-4",
    "tenon-and-linux",
    "worst-case",
}
"""Guides that take long, each with a test of its own."""
SHORT = sorted({page.stem for page in FOLDER.glob("*.md")} - LONG - {"README"})


def follow(name, folder):
    said = pages.follow(FOLDER / f"{name}.md", folder)
    print("\n--------\n".join(said))
    assert said


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SHORT)
def test_guide(name, tmp_path):
    follow(name, tmp_path)


@pytest.mark.long(40, "docs/guides", "pool/tenon/posix")
@pytest.mark.timeout(900)
def test_guide_to_c_beside_linux(tmp_path):
    follow("c-beside-linux", tmp_path)


@pytest.mark.long(35, "docs/guides", "orchestrator/tenonos/deploy", "boards/raspberry-pi-4")
@pytest.mark.timeout(900)
def test_guide_to_a_card_for_a_raspberry_pi_4(tmp_path):
    follow("raspberry-pi-4", tmp_path)


@pytest.mark.long(25, "docs/guides", "orchestrator/tenonos/new", "boards/qemu-virt")
@pytest.mark.timeout(900)
def test_guide_to_a_board_of_your_own(tmp_path):
    follow("own-board", tmp_path)


@pytest.mark.long(45, "docs/guides", "pool/tenon/channel", "linux")
@pytest.mark.timeout(900)
def test_guide_to_tenon_and_linux(tmp_path):
    follow("tenon-and-linux", tmp_path)


@pytest.mark.long(15, "docs/guides", "orchestrator/tenonos/trace", "pool/tenon/sync")
@pytest.mark.timeout(900)
def test_guide_to_a_worst_case(tmp_path):
    follow("worst-case", tmp_path)


@pytest.mark.long(12, "docs/guides", "orchestrator/tenonos/run")
@pytest.mark.timeout(900)
@pytest.mark.skipif(shutil.which("gdb-multiarch") is None, reason="no gdb-multiarch here")
def test_guide_to_debugging(tmp_path):
    follow("debugging", tmp_path)


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
