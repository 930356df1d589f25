"""The compiler's wrapper: hashes of crates, by what they are and not by where."""

import os
import subprocess
import sys

import pytest

from tenonos.build import cargo, rustc_wrapper

LINE = [
    "/toolchain/bin/rustc",
    "--crate-name",
    "core_list",
    "--edition=2024",
    "{clone}/pool/core/list/src/lib.rs",
    "--diagnostic-width=80",
    "--crate-type",
    "lib",
    "--cfg",
    'feature="counted"',
    "-C",
    "metadata=0123456789abcdef",
    "-C",
    "extra-filename=-0123456789abcdef",
    "--out-dir",
    "{clone}/target/release/deps",
    "--target",
    "aarch64-unknown-none-softfloat",
    "--extern",
    "hw_arch={clone}/target/release/deps/libhw_arch-0123456789abcdef.rmeta",
]
SAME = {
    "--diagnostic-width=80": "--diagnostic-width=120",
    "metadata=0123456789abcdef": "metadata=fedcba9876543210",
    "extra-filename=-0123456789abcdef": "extra-filename=-fedcba9876543210",
}
OTHER = {
    'feature="counted"': 'feature="sorted"',
    "core_list": "core_ring",
    "lib": "bin",
    "aarch64-unknown-none-softfloat": "aarch64-unknown-none",
}


def crate(folder, **more):
    return {
        "CARGO_MANIFEST_DIR": folder,
        "CARGO_PKG_NAME": "core-list",
        "CARGO_PKG_VERSION": "1",
    } | more


def metadata(line, environment):
    return next(each for each in rustc_wrapper.arguments(line, environment) if "metadata=" in each)


def of(clone, **more):
    line = [each.replace("{clone}", clone) for each in LINE]
    return metadata(line, crate(f"{clone}/pool/core/list", **more))


def test_a_crate_has_one_hash_in_all_clones():
    assert of("/home/one/tenonos") == of("/srv/two") != "metadata=0123456789abcdef"


@pytest.mark.parametrize("old", SAME)
def test_what_depends_on_the_machine_is_not_hashed(old):
    line = [SAME[old] if each == old else each for each in LINE]
    assert metadata(line, crate("/a")) == metadata(LINE, crate("/a"))


@pytest.mark.parametrize("old", OTHER)
def test_what_decides_the_code_is_hashed(old):
    line = [OTHER[old] if each == old else each for each in LINE]
    assert metadata(line, crate("/a")) != metadata(LINE, crate("/a"))


@pytest.mark.parametrize("name", ["CARGO_PKG_NAME", "CARGO_PKG_VERSION"])
def test_package_and_version_are_hashed(name):
    assert of("/a", **{name: "another"}) != of("/a")


def test_a_crate_of_the_registry_and_a_question_to_the_compiler_stay_as_they_are():
    registry = {"CARGO_MANIFEST_DIR": "/c/registry/src/index/spin-0.12.0", "CARGO_HOME": "/c"}
    assert rustc_wrapper.arguments(LINE, registry) == LINE
    assert rustc_wrapper.arguments(["rustc", "-vV"], {}) == ["rustc", "-vV"]


def test_the_wrapper_executes_the_compiler(tmp_path):
    folder = tmp_path / "a clone"
    folder.mkdir()
    for file in cargo.WRAPPER:
        (folder / file.name).write_bytes(file.read_bytes())
        (folder / file.name).chmod(file.stat().st_mode)
    line = [folder / cargo.WRAPPER[0].name, "echo", "-C", "metadata=0", "two words"]
    environment = os.environ | crate(str(tmp_path)) | {"TENON_PYTHON": sys.executable}
    said = subprocess.run(line, env=environment, capture_output=True, text=True, check=True).stdout
    assert said.startswith("-C metadata=") and said.endswith(" two words\n")
    assert "metadata=0 " not in said
