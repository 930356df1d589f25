"""Folders to deploy: whole, reproducible, and bootable as they are."""

import json
import subprocess
from pathlib import Path

from conftest import ROOT, assert_well


def content(folder):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def test_two_deployments_are_the_same_bytes(tenon, tmp_path):
    made = []
    for name in ("one", "two"):
        outcome = tenon("build", "hello", "-o", tmp_path / name, "--json", json_file=False)
        assert_well(outcome)
        assert json.loads(outcome.stdout)["output"] == str(tmp_path / name)
        made.append(content(tmp_path / name))
    one, two = made
    assert one == two
    assert [*one] == [
        *("README.md", "SHA256SUMS", "boot/run.sh", "boot/system.img"),
        *("elf/hello.elf", "elf/mortise.elf", "sbom.cdx.json"),
    ]
    for word in (ROOT, Path.home(), tmp_path):
        assert not [name for name, each in one.items() if str(word).encode() in each]
    check = ["sha256sum", "--check", "--quiet", "SHA256SUMS"]
    subprocess.run(check, cwd=tmp_path / "two", check=True)
    versions = {each["name"]: each.get("version") for each in parts(one)}
    assert {"core/list", "apps/hello", "zerocopy"} <= versions.keys()
    assert "thiserror-impl" not in versions and "loom" not in versions


def parts(files):
    return json.loads(files["sbom.cdx.json"])["components"]


def test_a_deployment_for_the_emulator_starts(tenon, tmp_path):
    assert_well(tenon("build", "hello", "-o", tmp_path, json_file=False))
    line = ["sh", str(tmp_path / "boot/run.sh")]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        try:
            assert any("hello from Tenon" in line for line in run.stdout)
        finally:
            run.kill()
