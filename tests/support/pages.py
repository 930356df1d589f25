"""Pages that are executed: the files and commands of a page, in its order, in an empty folder.

A fenced block is by the words after its fence

- `sh`: command lines for a shell, which ends at the first that fails; in `sh fails` one must;
- `text`: lines of what the commands before it print, in this order. `…` stands for any text, and
  alone on a line for any lines; with `text varies` numbers may differ;
- any other: a whole file. The line before the block ends with its path: `folder/file`:
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCED = re.compile(r"^```(\S*)(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
NAMED = re.compile(r"`([^`]+)`:\s*\Z")
NUMBER = re.compile(r"\d[\d,.]*")
LIMIT = 400


@dataclass(frozen=True)
class Block:
    """A fenced block; `path` names its file, if it is one."""

    kind: str
    flag: str
    text: str
    path: str | None


def blocks(page, section=None):
    """The blocks of a page, or of the section with this heading, in order."""
    text = page.read_text()
    if section:
        text = text.split(section)[1].split("\n## ")[0]
    for block in FENCED.finditer(text):
        named = NAMED.search(text[: block.start()])
        kind, flag, body = block.groups()
        is_file = kind not in ("sh", "text")
        assert named or not is_file, f"{page.name}: a block without the name of its file:\n{body}"
        yield Block(kind, flag.strip(), body, named[1] if is_file else None)


def follow(page, folder, section=None):
    """Do what the page says; returns what each block of commands printed, both streams in one."""
    said = []
    for block in blocks(page, section):
        if block.path:
            file = (folder / block.path).resolve()
            assert file.is_relative_to(folder.resolve()), block.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text)
        elif block.kind == "sh":
            said.append(_execute(block, folder))
        else:
            _compare(block, said[-1])
    return said


def shell(commands, folder, stderr=subprocess.PIPE):
    """Have a shell execute commands, with `tenon` on its path."""
    environment = os.environ | {
        "PATH": f"{ROOT}:{os.environ['PATH']}",
        "CARGO_TARGET_DIR": str(ROOT / ".tenon" / "target"),
    }
    return subprocess.run(
        ["sh", "-e"],
        input=commands,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        timeout=LIMIT,
        check=False,
    )


def _execute(block, folder):
    done = shell(block.text, folder, stderr=subprocess.STDOUT)
    outcome = f"{block.text}\nstatus {done.returncode}\n{done.stdout[-3000:]}"
    assert (done.returncode != 0) == (block.flag == "fails"), outcome
    return done.stdout


def _compare(block, said):
    """Find each line of the block, in this order, in what was said."""
    rest = [" ".join(line.split()) for line in said.splitlines()]
    for line in block.text.splitlines():
        wanted = " ".join(line.split())
        if wanted in ("", "…"):
            continue
        pattern = re.compile(".*".join(map(_literal(block.flag), wanted.split("…"))))
        while rest and not pattern.fullmatch(rest[0]):
            rest.pop(0)
        assert rest, f"not printed, or not in this order: {line}\n{said[-6000:]}"
        rest.pop(0)


def _literal(flag):
    if flag != "varies":
        return re.escape
    return lambda text: NUMBER.pattern.join(map(re.escape, NUMBER.split(text)))
