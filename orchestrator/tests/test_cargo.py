"""A cargo that ends without a reason of its own."""

import os
from types import SimpleNamespace

import pytest

from tenonos.build import cargo
from tenonos.errors import WorkError


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("kill -TERM $$", "pump: cargo was ended by SIGTERM"),
        ("kill -35 $$", "pump: cargo was ended by signal 35"),
        ("exit 3", "pump: cargo ended with status 3"),
        ("echo 'error: no space left' >&2; exit 101", "pump: no space left"),
    ],
)
def test_it_is_said_how_it_ended(tmp_path, monkeypatch, script, said):
    monkeypatch.setattr(cargo, "LOG", tmp_path / "log")
    monkeypatch.setattr(
        cargo.rust, "cargo", lambda *words, image: (["sh", "-c", script], dict(os.environ))
    )
    image = SimpleNamespace(name="pump", package="pump-image", target="none", flags=())
    with pytest.raises(WorkError) as raised:
        cargo._run(image, tmp_path / "pump/pump", tmp_path, str)
    assert raised.value.what == said
    assert raised.value.mend.startswith("all of it is in ")


@pytest.mark.parametrize(
    ("referred", "where"),
    [
        ("main.c:2 (/tmp/x/pump/main.c:2)", "pump/main.c:2"),
        ("object:(main)", "object:(main)"),
    ],
)
def test_a_symbol_that_nothing_defines_is_stated_with_its_place(
    monkeypatch, tmp_path, referred, where
):
    monkeypatch.chdir(tmp_path)
    referred = referred.replace("/tmp/x", str(tmp_path))
    said = f"rust-lld: error: undefined symbol: gone\n>>> referenced by {referred}\n>>>    x.o"
    error = {"message": "linking failed", "code": None, "rendered": said, "spans": []}
    image = SimpleNamespace(name="pump")
    assert cargo._first(image, error) == ("pump: undefined symbol: gone", where)
