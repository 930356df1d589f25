"""Files of the user that are not what they should be: one line each, with file and line."""

import fdt
import pytest
from descriptions import described, linux, motor, table

from tenonos import inputs, system
from tenonos.errors import InputError
from tenonos.pool import kconfig, library
from tenonos.run import script
from tenonos.system.device_trees import strings
from tenonos.system.lines import locate
from tenonos.system.node import Node

GOOD = described("good", motor(table("vm.task", name="a", period="1ms"), cpus=[0]))


def refused(folder, content):
    (folder / "system.toml").write_bytes(content)
    with pytest.raises(InputError) as error:
        system.load(folder)
    assert "\n" not in str(error.value) and len(str(error.value)) < 300
    return str(error.value)


def test_a_byte_order_mark_is_no_text(tmp_path):
    (tmp_path / "system.toml").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert system.load(tmp_path).name == "good"
    (tmp_path / "in.txt").write_bytes(b"\xef\xbb\xbftimeout 5\r\nsend a\r\n")
    assert [step.content for step in script.parse(tmp_path / "in.txt")] == [b"a\n"]
    (tmp_path / "motor.config").write_bytes(b"\xef\xbb\xbfCONFIG_A=y\r\n")
    assert kconfig.fragment(tmp_path / "motor.config")[0].symbol == "A"


@pytest.mark.parametrize("odd", [b"\xff", b"\xe9t\xe9", b"\xc3"])
def test_a_file_in_another_encoding_is_named_with_its_line(tmp_path, odd):
    line = refused(tmp_path, GOOD.encode() + b"\n# caf" + odd + b"\n")
    number = GOOD.count("\n") + 2
    assert f"system.toml:{number}: byte {odd[0]:#04x} is not UTF-8; save it as UTF-8" in line
    for name, read in (
        ("in.txt", script.parse),
        ("x.config", kconfig.fragment),
        ("Cargo.toml", lambda file: library.read(file.parent)),
    ):
        (tmp_path / name).write_bytes(b"\n" + odd)
        with pytest.raises(InputError, match=f"{name}:2: byte"):
            read(tmp_path / name)


def test_a_file_in_utf_16_is_refused(tmp_path):
    assert "system.toml:1: it is UTF-16" in refused(tmp_path, GOOD.encode("utf-16"))


@pytest.mark.parametrize("nested", ["[" * 2_000 + "]" * 2_000, "{a=" * 2_000 + "1" + "}" * 2_000])
def test_deep_toml_is_refused(tmp_path, nested):
    line = refused(tmp_path, f"{GOOD}\n[x]\ny = {nested}\n".encode())
    assert f"system.toml:{GOOD.count(chr(10)) + 3}:" in line
    assert "nested too deeply" in line


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (b"\n# x" * 100_000, "characters, and 131,072 are read"),
        (b"\n# " + b"x" * 2_000_000, "it has more than 1,048,576 bytes"),
        (b"\n" + b"a." * 60_000 + b"a = 1", "this line has 120,005 characters"),
        (b"\n[" + b" " * 8_000, "not valid TOML"),
        (b"\nx = " + b"9" * 5_000, "4300 digits"),
    ],
)
def test_huge_toml_is_refused_at_once(tmp_path, more, says):
    assert says in refused(tmp_path, GOOD.encode() + more)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('name = "a"\nname = "b"\n', "2: not valid TOML: it is there already; keep one"),
        ("[a]\nb = 1\n[a]\n", "3: not valid TOML: the table is there already; join both"),
        ("cpus\n", "1: not valid TOML: a line without =; write KEY = VALUE"),
        ("[[vm]\n", "1: not valid TOML: a table without its closing bracket; write [NAME] or"),
        ("app = motor\n", '1: not valid TOML: no value; write "text", a number'),
        ("app = 1 2\n", "1: not valid TOML: more on the line than one value; write text in quotes"),
        ('app = "motor\n', "1: not valid TOML: a text without its closing quote; end it with"),
        ("app = 'motor", "1: not valid TOML: a text without its closing quote; end it with"),
        ("= 3\n", "1: not valid TOML: no key and no table; write KEY = VALUE, [NAME]"),
        ("cpus = [1\nb = 2\n", "2: not valid TOML: a list without its closing bracket; end it"),
        ('app = "a\\q"\n', "1: not valid TOML: a single backslash in a text; write two"),
        ("a = {b = 1,}\n", "1: not valid TOML: invalid initial character for a key part; correct"),
    ],
)
def test_an_error_of_toml_has_a_remedy(text, says):
    with pytest.raises(InputError) as refused:
        inputs.toml(text, "x.toml")
    assert str(refused.value).startswith(f"x.toml:{says}")


def test_a_folder_or_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot read it: Is a directory; give a file"):
        inputs.text(tmp_path)
    with pytest.raises(
        InputError, match="cannot read it: No such file or directory; write its path"
    ):
        script.parse(tmp_path / "none")


def test_lines_are_those_of_toml():
    """A line separator of Unicode within a comment ends no line of the file."""
    assert locate("# a\u2028b\x0c\nname = 1\n")[("name",)] == 2


@pytest.mark.parametrize("text", ["hostname=gerät", "名=1", "x=é", ""])
def test_a_command_line_is_passed_on_in_utf_8(tmp_path, text):
    (tmp_path / "system.toml").write_text(described("l", linux(cpus=[0], cmdline=text)))
    assert system.load(tmp_path).vms[0].cmdline == text
    root = Node("/")
    root.child("chosen").text("bootargs", text)
    tree = fdt.parse_dtb(root.blob())
    assert strings(text) == text.encode() + b"\0"
    assert text.encode() + b"\0" in root.blob()
    assert tree.get_node("/chosen") is not None


@pytest.mark.parametrize("odd", ["\\n", "\\u0007", "\\u0000", "\\u007f", "\\u0085", "\\t"])
@pytest.mark.parametrize("key", ["cmdline", "kernel", "initramfs", "files"])
def test_a_control_character_is_refused_with_its_line(tmp_path, key, odd):
    text = described("l", linux(cpus=[0])) + f'{key} = "a{odd}b"\n'
    line = refused(tmp_path, text.encode())
    assert f"system.toml:{text.count(chr(10))}: {key}: it has the control character 0x" in line


@pytest.mark.parametrize("key", ["kernel", "initramfs", "files", "app", "config", "device_tree"])
def test_an_empty_name_of_a_file_is_refused(tmp_path, key):
    text = described("l", linux(cpus=[0])) + f'{key} = ""\n'
    assert f"{key}: it is empty" in refused(tmp_path, text.encode())


@pytest.mark.parametrize("memory", ["2M", "32M", "48M"])
def test_a_linux_that_does_not_boot_is_refused(tmp_path, memory):
    line = refused(tmp_path, described("l", linux(cpus=[0], memory=memory)).encode())
    assert f'Linux VM "linux" has {memory}' in line and 'write memory = "64M" or more' in line
    (tmp_path / "system.toml").write_text(described("l", linux(cpus=[0], memory="64M")))
    assert system.load(tmp_path).vms[0].memory == 64 << 20


def test_a_command_line_has_the_length_that_linux_reads(tmp_path):
    text = described("l", linux(cpus=[0], cmdline="x" * 2_047))
    (tmp_path / "system.toml").write_text(text)
    assert len(system.load(tmp_path).vms[0].cmdline) == 2_047
    # Bytes are counted, not characters.
    for long in ("x" * 2_048, "ä" * 1_024):
        line = refused(tmp_path, described("l", linux(cpus=[0], cmdline=long)).encode())
        assert "cmdline: it has 2,048 bytes, and Linux reads 2,047; shorten it" in line
