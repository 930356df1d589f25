"""Builds: reproducible, incremental, and refused in one line."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, assert_well
from elftools.elf.elffile import ELFFile

from tenonos import catalogue
from tenonos.build.attribution import attribute
from tenonos.cards.card import load
from tenonos.cards.estimate import of_tree
from tools.cards.stale import stale


def digest(outcome):
    built = json.loads(outcome.stdout)
    files = [Path(built["image"]), *map(Path, built["elves"].values())]
    return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]


def written(outcome):
    """Time of linking of each image."""
    assert_well(outcome)
    return {
        elf: Path(elf).stat().st_mtime_ns for elf in json.loads(outcome.stdout)["elves"].values()
    }


@pytest.fixture
def build(tenon):
    def call(*arguments, **more):
        return tenon("build", *arguments, "--json", json_file=False, **more)

    return call


@pytest.fixture
def mine(tmp_path):
    """A copy of a system outside of the tree for a test to modify."""

    def copy(name):
        folder = tmp_path / name
        shutil.copytree(catalogue.systems()[name], folder)
        return folder

    return copy


def test_two_builds_are_the_same_bytes(build):
    first = build("hello")
    assert_well(first)
    again = build("hello", "--pristine")
    assert_well(again)
    assert digest(first) == digest(again)


@pytest.mark.long(60, "orchestrator/tenonos/build")
def test_two_clones_build_the_same_bytes(build, tmp_path):
    assert_well(build("hello", "-o", tmp_path / "here"))
    clone = tmp_path / "somewhere" / "else"
    ignored = shutil.ignore_patterns(".tenon", ".git", "__pycache__")
    shutil.copytree(ROOT, clone, symlinks=True, ignore=ignored)
    dot = clone / ".tenon"
    dot.mkdir()
    (dot / "venv").symlink_to(ROOT / ".tenon" / "venv")
    shutil.copyfile(ROOT / ".tenon" / "ready", dot / "ready")
    line = [clone / "tenon", "build", "hello", "-o", tmp_path / "there"]
    subprocess.run(line, check=True, capture_output=True, timeout=600)
    # The bill of materials and the page name the commit, which a copy without git has not.
    here, there = (
        {file.relative_to(folder): file.read_bytes() for file in folder.glob("*/*")}
        for folder in (tmp_path / "here", tmp_path / "there")
    )
    assert len(here) == 4
    assert here == there


@pytest.mark.long(25, "orchestrator/tenonos/build")
def test_systems_of_one_name_are_told_apart(build, tmp_path):
    elves = {}
    for folder, cores in (("one", "[1]"), ("two", "[1, 2]")):
        system = tmp_path / folder / "system.toml"
        system.parent.mkdir()
        text = (ROOT / "examples/systems/hello/system.toml").read_text()
        assert "cpus = [0]" in text
        system.write_text(text.replace("cpus = [0]", f"cpus = {cores}"))
        elves[folder] = Path(json.loads(build(system.parent).stdout)["elves"]["mortise"])
    first = elves["one"].read_bytes()
    assert elves["two"].read_bytes() != first
    # Causes of a rebuild: a changed library, another toolchain.
    (elves["one"].parent / "built").unlink()
    assert_well(build(tmp_path / "one"))
    assert elves["one"].read_bytes() == first


@pytest.mark.long(28, "orchestrator/tenonos/build")
def test_a_copied_c_project_is_linked_with_its_own_objects(tenon, build, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    assert_well(tenon("new", "app", "twin", "--lang", "c", "-C", tmp_path, json_file=False))
    (tmp_path / "twin").rename(one)
    shutil.copytree(one, two)
    text = (one / "main.c").read_text()

    def linked(folder, word, before=""):
        (folder / "main.c").write_text(
            text.replace("argument", word).replace("\tprintf", f"\t{before}printf")
        )
        outcome = build(folder)
        if before:
            assert outcome.status == 1 and "undefined symbol: absent" in outcome.stderr
            return
        assert_well(outcome)
        content = Path(json.loads(outcome.stdout)["elves"]["twin"]).read_bytes()
        assert word.encode() in content

    linked(one, "first")
    linked(two, "second", before="extern void absent(void); absent(); ")
    linked(one, "third")
    linked(two, "fourth")
    linked(one, "fifth")


def test_systems_with_the_same_image_link_it_once(build, tmp_path):
    assert_well(build("hello"))
    shutil.copytree(ROOT / "examples/systems/hello", tmp_path / "copy")
    copy = build(tmp_path / "copy")
    assert_well(copy)
    assert "Building" not in copy.stderr
    linked = digest(copy)
    assert linked == digest(build("hello"))
    # hello is the third: the packed image, Mortise, hello.
    other = build(tmp_path / "copy", "-D", "CONFIG_TENON_THREAD_PREEMPTION=n")
    assert digest(other)[2] != linked[2]
    again = build(tmp_path / "copy", "--pristine")
    assert "Building mortise" in again.stderr and "Building hello" in again.stderr
    # What other systems have linked is kept.
    shutil.copytree(ROOT / "examples/systems/hello", tmp_path / "second")
    assert "Building" not in build(tmp_path / "second").stderr


@pytest.mark.long(22, "orchestrator/tenonos/build")
def test_an_image_does_not_tell_where_it_was_built(build):
    for elf in json.loads(build("motor-linux").stdout)["elves"].values():
        content = Path(elf).read_bytes()
        assert str(ROOT).encode() not in content
        assert str(Path.home()).encode() not in content


def test_no_setting_leaks_through_the_shared_target_folder(build):
    plain = digest(build("hello"))
    other = build("hello", "-D", "CONFIG_TENON_THREAD_PREEMPTION=n")
    assert_well(other)
    changed = digest(other)
    # hello is the third: the packed image, Mortise, hello.
    assert changed[2] != plain[2]
    assert changed[1] == plain[1]
    assert digest(build("hello")) == plain


def test_neither_kernel_leaks_into_the_other(tenon, build):
    outcome = tenon("tree", "motor-linux", "--json", json_file=False)
    assert_well(outcome)
    images = json.loads(outcome.stdout)
    assert not [name for name in images["motor"] if name.startswith("mortise/")]
    assert not [name for name in images["mortise"] if name.startswith(("tenon/", "apps/"))]
    elves = json.loads(build("motor-linux").stdout)["elves"]
    for elf in elves.values():
        # These registers hold a guest's floating-point state; Mortise may only clear them.
        code = list(instructions(elf))
        assert len(code) > 5000
        assert not [name for name, word in code if uses_simd(word)]
    # Tenon accesses EL2 registers only to drop to EL1 before Rust code runs.
    named = {name for name, word in instructions(elves["motor"]) if names_el2(word)}
    assert all("drop_to_el1" in name for name in named)


def instructions(elf):
    """The instructions of an image with their functions."""
    with open(elf, "rb") as file:
        image = ELFFile(file)
        symbols = list(image.get_section_by_name(".symtab").iter_symbols())
        for index, section in enumerate(image.iter_sections()):
            if section["sh_flags"] & 4:  # SHF_EXECINSTR
                places = [(s["st_value"], s.name) for s in symbols if s["st_shndx"] == index]
                yield from decoded(section["sh_addr"], section.data(), places)


def decoded(start, data, places):
    """The instructions of a code section, given its symbols."""
    # The mapping symbols $x and $d mark the start of code and data.
    code, function = False, ""
    marks = sorted(places, key=lambda place: (place[0], place[1].startswith("$")))
    ends = [address for address, _ in marks[1:]] + [start + len(data)]
    for (address, name), end in zip(marks, ends, strict=True):
        if name.startswith(("$x", "$d")):
            code = name.startswith("$x")
        elif not name.startswith("$"):
            function = name
        if code:
            for at in range(address, end & ~3, 4):
                yield function, int.from_bytes(data[at - start : at - start + 4], "little")


def uses_simd(word):
    """Whether an instruction uses a SIMD register except to clear it (Arm ARM, C4.1)."""
    cleared = word & 0xFFFFFFE0 == 0x6F00E400  # movi vN.2d, #0
    processes = word >> 25 & 0b0111 == 0b0111
    moves = word >> 25 & 0b0101 == 0b0100 and word >> 26 & 1 == 1
    return (processes or moves) and not cleared


def names_el2(word):
    """Whether an instruction reads or writes a system register of EL2 (op1 = 4)."""
    return word >> 22 == 0xD5 << 2 and word >> 20 & 1 == 1 and word >> 16 & 7 == 4


def test_the_decoder_knows_what_it_looks_for():
    assert uses_simd(0x4EA41C83)  # mov v3.16b, v4.16b
    assert uses_simd(0x3DC00020)  # ldr q0, [x1]
    assert uses_simd(0x6D0127E8)  # stp d8, d9, [sp, #16]
    assert not uses_simd(0x6F00E403)  # movi v3.2d, #0
    assert not uses_simd(0xF9400020)  # ldr x0, [x1]
    assert names_el2(0xD53C1100)  # mrs x0, hcr_el2
    assert not names_el2(0xD5381000)  # mrs x0, sctlr_el1


def test_offline_and_locked_is_enough(build):
    assert_well(build("hello", "--offline", "--locked"))


def test_a_build_of_nothing_new_builds_nothing(build):
    first = build("hello")
    before = written(first)
    again = build("hello")
    assert "Building" not in again.stderr
    assert written(again) == before


def test_size_says_what_both_kernels_share(tenon):
    outcome = tenon("size", "motor-linux", "--json", json_file=False)
    assert_well(outcome)
    answer = json.loads(outcome.stdout)
    assert [image["name"] for image in answer["images"]] == ["mortise", "motor"]
    shared = {lib["name"] for lib in answer["libraries"] if lib["in"] == ["mortise", "motor"]}
    assert shared >= {
        "hw/arch", "hw/serial", "core/memory", "core/log", "core/ring", "hw/clock"
    }  # fmt: skip
    text = sum(row["text"] for row in answer["libraries"] + answer["third_party"])
    assert text == sum(image["text"] for image in answer["images"])
    assert all(lib["sloc"] > 0 for lib in answer["libraries"])
    stacks = {row["name"]: row for row in answer["stacks"]}
    assert stacks.keys() == {"main", "idle", "interrupts"}
    for row in stacks.values():
        assert row["image"] == "motor"
        # An interrupt with a preemption alone needs this much of a thread's stack.
        assert row["bounded"] and 272 <= row["need"] <= row["size"], row


@pytest.fixture(scope="module")
def of_this_tree():
    """Whether the cards are fresh; stale ones are not compared."""
    if old := dict(stale(load())):
        pytest.skip(f"{len(old)} cards are of another tree: ./tenon measure")


@pytest.mark.long(30, "bench/cards", "orchestrator/tenonos/cards", "orchestrator/tenonos/analysis")
@pytest.mark.parametrize("system", ["motor-linux", "on-demand"])
@pytest.mark.usefixtures("of_this_tree")
def test_the_cards_add_up_to_what_is_built(tenon, system):
    outcome = tenon("size", system, "--json", json_file=False)
    assert_well(outcome)
    answer = json.loads(outcome.stdout)
    known = of_tree(ROOT)
    for image in answer["images"]:
        libraries = [lib["name"] for lib in answer["libraries"] if image["name"] in lib["in"]]
        kind = "mortise" if image["name"] == "mortise" else "tenon"
        assert all(known.measured(kind, name) for name in libraries)
        built = image["total"] - image["bss"]
        assert known.image(kind, libraries).loaded == pytest.approx(built, rel=0.1), image["name"]


OF_MODE_2 = ("state/src/backlog", "run/src/irq/acknowledge", "partition/src/slot_lifecycle")
"""Modules of Mortise for shared cores and VMs created at run time only."""


@pytest.mark.long(30, "orchestrator/tenonos/build", "pool/mortise/lifecycle")
@pytest.mark.parametrize(
    ("system", "linked"), [("motor-linux", set()), ("on-demand", set(OF_MODE_2))]
)
def test_a_static_mortise_links_nothing_of_mode_2(build, system, linked):
    elf = Path(json.loads(build(system).stdout)["elves"]["mortise"])
    modules = {name: Path("pool", "mortise", f"{name}.rs") for name in OF_MODE_2}
    assert attribute(elf.read_bytes(), modules).keys() & OF_MODE_2 == linked


def test_a_stack_that_is_too_small_is_reported(build, tmp_path, tenon):
    assert_well(tenon("-C", tmp_path, "new", "app", "tight", json_file=False))
    source = tmp_path / "tight" / "src" / "lib.rs"
    text = source.read_text().replace(
        "    let mut counter",
        """    let _ = SMALL.spawn("small", Priority::new(9), || {
        let mut much = [0u8; 600];
        core::hint::black_box(&mut much);
    });
    let mut counter""",
    )
    storage = "static SMALL: Storage<768> = Storage::new();\n\n/// Count of releases"
    text = text.replace("/// Count of releases", storage, 1)
    source.write_text(
        text.replace("use tenon::time", "use tenon::thread::{Priority, Storage};\nuse tenon::time")
    )
    outcome = build(tmp_path / "tight")
    assert_well(outcome)
    place = 1 + source.read_text().splitlines().index(
        '    let _ = SMALL.spawn("small", Priority::new(9), || {'
    )
    assert f"tight/src/lib.rs:{place}: the thread tight::main::{{closure#0}} may need " in (
        outcome.stderr
    )
    assert " bytes of stack and has 768; give it more" in outcome.stderr


@pytest.mark.parametrize(
    ("file", "old", "new", "line"),
    [
        (
            "system.toml",
            '"qemu-virt"',
            '"toaster"',
            'system.toml:3: unknown board "toaster"; known',
        ),
        (
            "system.toml",
            "cpus = [3]",
            "cpus = [2]",
            'CPU 2 is given to "motor" already; free: 3',
        ),
        (
            "system.toml",
            '"motor"\ncpus',
            '"rotor"\ncpus',
            'no application "rotor"; did you mean "motor"',
        ),
        (
            "system.toml",
            '"16M"',
            '"16M"\nmemory_at = "0x40400000"',
            "overlaps the system image",
        ),
        (
            "system.toml",
            '"debian-cloud"',
            '"vmlinux"',
            'no kernel "vmlinux"; give a file, or debian',
        ),
        (
            "motor.config",
            "#",
            "CONFIG_LIB_CORE_TIMR=y\n#",
            "motor.config:1: unknown CONFIG_LIB_CORE_T",
        ),
        (
            "mortise.config",
            "#",
            "CONFIG_LIB_TENON_API=y\n#",
            "mortise.config:1: CONFIG_LIB_TENON_API=y",
        ),
    ],
)
def test_what_is_wrong_is_one_line_and_status_2(build, mine, file, old, new, line):
    folder = mine("motor-linux")
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    outcome = build(folder)
    assert outcome.status == 2
    complaints = [said for said in outcome.stderr.splitlines() if said.startswith("tenon:")]
    assert len(complaints) == 1
    assert line in complaints[0]
    assert "Traceback" not in outcome.stderr


def test_an_unknown_config_on_the_command_line(build):
    outcome = build("hello", "-D", "CONFIG_NONSENSE=y")
    assert outcome.status == 2
    assert outcome.stderr.startswith("tenon: -D: unknown CONFIG_NONSENSE")


def test_an_application_of_ones_own(tenon, tmp_path):
    """The README's quick start: new, build, run, outside of the tree."""
    made = tenon("-C", tmp_path, "new", "app", "blinker", json_file=False)
    assert_well(made)
    outcome = tenon("run", tmp_path / "blinker", "--headless", "--seconds", "2")
    assert_well(outcome)
    assert "blinker| 100 releases" in outcome.stderr.splitlines()
    assert outcome.task["released"] == outcome.task["completed"] == 200


def test_a_compile_error_is_one_line_with_its_place(tenon, tmp_path):
    assert_well(tenon("-C", tmp_path, "new", "app", "broken", json_file=False))
    source = tmp_path / "broken" / "src" / "lib.rs"
    source.write_text(source.read_text().replace("counter.next()", "counter.nxt()", 1))
    outcome = tenon("build", tmp_path / "broken", json_file=False)
    assert outcome.status == 1
    (complaint,) = [line for line in outcome.stderr.splitlines() if line.startswith("tenon:")]
    place = 1 + source.read_text().splitlines().index("        let count = counter.nxt();")
    assert f"broken/src/lib.rs:{place}: broken: no method named `nxt`" in complaint
    assert "; all of it is in " in complaint


@pytest.fixture
def clone(tmp_path):
    """A copy of the tree for a test to modify, and a function that builds in it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)

    def build(file, old, new):
        text = (tmp_path / file).read_text()
        assert old in text
        (tmp_path / file).write_text(text.replace(old, new, 1))
        return subprocess.run(
            [sys.executable, tmp_path / "orchestrator", "build", "hello"],
            cwd=tmp_path,
            check=False,
            capture_output=True,
            text=True,
        )

    return build


@pytest.mark.long(32, "orchestrator/tenonos/build", "orchestrator/tenonos/pool")
def test_a_duplicate_hypercall_stops_the_build(clone):
    done = clone("pool/mortise/run/src/trap/hypercalls.rs", "0xc600_0000", "0x8400_0003")
    assert done.returncode == 1
    assert (
        "tenon: mortise: hypercall: mortise/partition and mortise/psci "
        "claim the same function identifier; all of it is in "
    ) in done.stderr


@pytest.mark.long(5, "orchestrator/tenonos/build", "orchestrator/tenonos/pool")
def test_a_crate_above_its_layer_stops_the_build(clone):
    timer = 'hw-arch = { path = "../arch" }\ncore-timer = { path = "../../core/timer" }'
    done = clone("pool/hw/clock/Cargo.toml", 'hw-arch = { path = "../arch" }', timer)
    assert done.returncode == 2
    assert "Building" not in done.stderr
    assert "hw/clock reaches above its layer: it depends on core/timer; hw may use hw" in (
        done.stderr
    )


def test_an_image_takes_no_more_memory_than_it_may(build, tenon, tmp_path):
    objective = "a 1 kHz control loop with 92 KiB of RAM"
    assert_well(tenon("compose", objective, "-o", tmp_path / "loop", json_file=False))
    # The sum of the cards equals the built image, to the page.
    assert_well(build(tmp_path / "loop"))
    file = tmp_path / "loop" / "system.toml"
    file.write_text(file.read_text().replace('ram_limit = "92K"', 'ram_limit = "88K"'))
    refused = build(tmp_path / "loop")
    assert refused.status == 1
    assert "takes 94208 bytes of memory, and its limit is 90112" in refused.stderr
