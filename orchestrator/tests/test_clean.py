import pytest

from tenonos import cli, paths


@pytest.fixture
def dot(monkeypatch, tmp_path):
    for name in ("BUILD", "TARGET", "RUN", "LOG", "CACHE"):
        folder = tmp_path / ".tenon" / name.lower()
        folder.mkdir(parents=True)
        (folder / "file").touch()
        monkeypatch.setattr(paths, name, folder)
    monkeypatch.setattr(paths, "DOT", tmp_path / ".tenon")
    return tmp_path / ".tenon"


def test_what_was_fetched_stays(dot):
    assert cli.run(["clean"]) == 0
    assert [folder.name for folder in dot.iterdir()] == ["cache"]
    assert cli.run(["clean"]) == 0


def test_all_is_deleted_on_request_except_targets_of_links(dot, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (dot / "venv").symlink_to(tmp_path / "elsewhere")
    assert cli.run(["clean", "--all"]) == 0
    assert not dot.exists()
    assert (tmp_path / "elsewhere").is_dir()
