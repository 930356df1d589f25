"""Programs for Linux: what they are linked with."""

import shutil

import pytest

from tenonos import logs
from tenonos.errors import WorkError
from tenonos.linux import tools

pytestmark = pytest.mark.skipif(
    not shutil.which("aarch64-linux-gnu-gcc"), reason="needs a cross compiler"
)


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(tools.paths, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(tools.paths, "BUILD", tmp_path / "build")
    monkeypatch.setattr(logs, "LOG", tmp_path / "log")


def test_a_program_of_a_system_s_own_has_the_library(tmp_path):
    source = tmp_path / "clock.c"
    source.write_text(
        "#include <tenon/detach.h>\nint main(void) { return tenon_wait_until(tenon_now()); }\n"
    )
    made = tools.own(source)
    assert made.name == "bin/clock" and made.content.startswith(b"\x7fELF\x02")


def test_a_program_has_of_the_library_what_it_calls(tmp_path):
    source = tmp_path / "nothing.c"
    source.write_text("int main(void) { return 0; }\n")
    files = b"/sys/kernel/tenon/detach/"
    assert files in tools.library() and files not in tools.own(source).content


def test_what_does_not_link_is_one_line_and_all_of_it_a_log(tmp_path):
    source = tmp_path / "wrong.c"
    source.write_text("int missing(void);\nint main(void) { return missing(); }\n")
    with pytest.raises(WorkError, match="missing") as failed:
        tools.own(source)
    log = tmp_path / "log" / logs.LIBRARIES
    assert str(failed.value).endswith(f"; all of it is in {log}")
    said = log.read_text()
    assert (
        said.startswith("$ aarch64-linux-gnu-gcc ") and "undefined reference to `missing'" in said
    )


def test_an_error_has_the_line_of_the_source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "wrong.c"
    source.write_text("int main(void)\n{\n\treturn nothing;\n}\n")
    with pytest.raises(WorkError) as failed:
        tools.own(source)
    assert str(failed.value).startswith("wrong.c:3: 'nothing' undeclared")
    source.write_text('#include "nothing.h"\n')
    with pytest.raises(WorkError, match=r"^wrong.c:1: nothing.h: No such file or directory; all "):
        tools.own(source)


def test_a_program_may_be_called_like_the_system_it_is_for(tmp_path):
    tools.paths.ensure(tools.paths.BUILD / "servo")
    source = tmp_path / "servo.c"
    source.write_text("int main(void) { return 0; }\n")
    assert tools.own(source).name == "bin/servo"
