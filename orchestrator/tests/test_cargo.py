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
