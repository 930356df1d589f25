import json
import re
import shutil
import subprocess

import pytest

from tenonos.errors import WorkError
from tenonos.settings import SETTINGS
from tenonos.setup import apt, debian

DEB822 = """\
# the system's own
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates bookworm-backports
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
Enabled: no
URIs: http://off.example/debian
Suites: bookworm
Components: main

Types: deb
URIs: https://third.example/node
Suites: nodistro
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----
"""


def test_deb822_sources_are_read_and_rewritten_for_arm64():
    sources = list(apt.parse_deb822(DEB822))
    assert [source.uris for source in sources] == [
        "http://mirror.example/debian",
        "https://third.example/node",
    ]
    assert sources[1].signed_by.count("\n") == 3
    (own,) = apt.own_archive(sources, "bookworm")
    assert own.suites == ("bookworm", "bookworm-updates")
    assert own.components == "main"
    assert "Architectures: arm64\n" in own.stanza()
    assert "Signed-By: /usr/share/keyrings" in own.stanza()


def test_backports_come_from_where_the_release_comes_from():
    (newer,) = apt.of_suite(apt.parse_deb822(DEB822), "bookworm", "backports")
    assert (newer.uris, newer.suites) == ("http://mirror.example/debian", ("bookworm-backports",))
    assert newer.signed_by == "/usr/share/keyrings/debian-archive-keyring.gpg"
    text = """
    deb http://mirror.example/debian stable main
    deb http://mirror.example/debian-security stable-security main
    """
    (newer,) = apt.of_suite(apt.parse_one_line(text), "trixie", "backports")
    assert (newer.uris, newer.suites) == ("http://mirror.example/debian", ("trixie-backports",))


def test_one_line_sources_keep_their_key():
    text = """
    deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian trixie main non-free # ours
    deb-src http://mirror.example/debian trixie main
    deb https://third.example/apt trixie stable
    """
    first, third = apt.parse_one_line(text)
    assert (first.signed_by, third.signed_by) == ("/k.gpg", None)
    assert [s.uris for s in apt.own_archive([first, third], "trixie")] == [first.uris]


def test_the_distribution_is_distinguished_from_derivatives():
    text = """
    deb http://mirror.example/debian stable main
    deb http://mirror.example/debian-security/ stable-security main
    deb [signed-by=/third.gpg] https://third.example/debian bookworm main
    deb https://third.example/browser stable main
    """
    sources = list(apt.parse_one_line(text))
    assert apt.own_archive(sources, "bookworm") == sources[:2]
    # A company's mirror, signed by the company: the names of the suites must do.
    assert apt.own_archive(sources[2:], "bookworm") == [sources[2]]


def test_an_unknown_system_is_reported(monkeypatch, tmp_path):
    monkeypatch.setattr(apt, "os_release", lambda: {"ID": "plan9"})
    with pytest.raises(WorkError, match="Debian's"):
        apt.PrivateApt(tmp_path).prepare()


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setattr(debian.paths, "CACHE", tmp_path)
    (tmp_path / "debian").mkdir()
    return tmp_path / "debian"


def test_what_was_fetched_serves_again_without_network(cache, monkeypatch):
    monkeypatch.setattr(SETTINGS, "offline", True)
    with pytest.raises(WorkError, match="without --offline"):
        debian.busybox()
    (cache / "busybox-1").write_bytes(b"elf")
    digest = debian._sha256(cache / "busybox-1")
    debian._remember("busybox", debian.Fetched("busybox-static", "1", digest, "busybox-1"))
    assert debian.busybox() == cache / "busybox-1"
    assert json.loads((cache / "fetched.json").read_text())["busybox"]["sha256"] == digest


def test_a_damaged_file_is_not_served(cache):
    (cache / "kernel-1").write_bytes(b"good")
    digest = debian._sha256(cache / "kernel-1")
    debian._remember("kernel", debian.Fetched("linux-image", "1", digest, "kernel-1"))
    assert debian.fetched("kernel")
    (cache / "kernel-1").write_bytes(b"evil")
    assert debian.fetched("kernel") is None


def test_a_compressed_kernel_is_unpacked_and_a_strange_one_refused():
    import gzip

    image = bytes(56) + b"ARM\x64" + bytes(64)
    assert debian.plain_image(image) == image
    assert debian.plain_image(gzip.compress(image)) == image
    with pytest.raises(WorkError, match="not an arm64 Image"):
        debian.plain_image(b"MZ" + bytes(100))


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="needs dpkg")
def test_one_file_comes_out_of_a_package(tmp_path):
    tree = tmp_path / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    control = (
        "Package: x\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example>\nDescription: x\n"
    )
    (tree / "DEBIAN/control").write_text(control)
    (tree / "boot").mkdir()
    (tree / "boot/vmlinuz-6.1").write_bytes(b"kernel")
    package = tmp_path / "x.deb"
    subprocess.run(["dpkg-deb", "--build", tree, package], check=True, capture_output=True)
    assert debian.member(package, re.compile(r"\./boot/vmlinuz-.*")) == b"kernel"
    with pytest.raises(WorkError, match="no file like"):
        debian.member(package, re.compile("absent"))


def test_a_replaced_package_is_reported_with_a_remedy(cache, monkeypatch):
    class Apt:
        def download(self, package, version, folder):
            raise WorkError(f"apt-get -q: Version '{version}' for '{package}' was not found")

    monkeypatch.setattr(debian, "private_apt", lambda architecture, suite: Apt())
    with pytest.raises(WorkError, match=r"not found.*clean --all"):
        debian.package("linux-headers-6.1", "6.1.99-1")


def test_a_package_serves_again_in_the_version_that_was_fetched(cache, monkeypatch):
    (cache / "packages").mkdir()
    (cache / "packages/x_1_arm64.deb").write_bytes(b"deb")
    digest = debian._sha256(cache / "packages/x_1_arm64.deb")
    entry = debian.Fetched("x", "1", digest, "packages/x_1_arm64.deb")
    debian._remember("package x", entry)
    monkeypatch.setattr(SETTINGS, "offline", True)
    assert debian.package("x") == debian.package("x", "1") == cache / "packages/x_1_arm64.deb"
    with pytest.raises(WorkError, match="without --offline"):
        debian.package("x", "2")


class Kernels:
    """An apt that has a metapackage, its kernel, and the parts of that one."""

    architecture = "arm64"

    def show(self, name):
        depends = {
            "linux-image-rt-arm64": "linux-base-rt-arm64, linux-image-7.3+deb-rt-arm64 (= 7.3)",
            "linux-image-7.3+deb-rt-arm64": "kmod",
        }
        if name not in depends:
            raise WorkError("apt-cache show: No packages found")
        return {"Package": name, "Version": "7.3", "Depends": depends[name]}


def test_a_kernel_is_found_by_its_package_or_by_the_one_that_depends_on_it():
    exact = ("linux-image-7.3+deb-rt-arm64", "7.3")
    assert debian._newest_kernel(Kernels(), "linux-image-rt-arm64") == exact
    assert debian._newest_kernel(Kernels(), exact[0]) == exact
    with pytest.raises(WorkError, match=r"no kernel linux-image-rtt-arm64 for arm64.*backports"):
        debian._newest_kernel(Kernels(), "linux-image-rtt-arm64")


def test_a_kernel_in_several_packages_is_put_together(cache, monkeypatch):
    asked = []

    def package(name, version=None, architecture="arm64", suite=None):
        asked.append((name, version, suite))
        return cache / f"{name}.deb"

    suites = []
    monkeypatch.setattr(debian, "private_apt", lambda suite=None: suites.append(suite) or Kernels())
    monkeypatch.setattr(debian, "package", package)
    parts = tuple(f"linux-{part}-7.3+deb-rt-arm64" for part in ("binary", "modules"))
    monkeypatch.setattr(debian.deb, "depends", lambda image: ("dracut", *parts))
    image = bytes(56) + b"ARM\x64"
    monkeypatch.setattr(
        debian, "member", lambda deb, wanted: image if "binary" in deb.name else b""
    )
    assert debian.kernel("linux-image-rt-arm64/backports").read_bytes() == image
    assert suites == ["backports"]
    assert {name for name, _, _ in asked} == {"linux-image-7.3+deb-rt-arm64", *parts}
    assert {tuple(rest) for _, *rest in asked} == {("7.3", "backports")}
    found = debian.fetched_kernel("linux-image-rt-arm64/backports")
    assert (found.package, found.suite) == ("linux-image-7.3+deb-rt-arm64", "backports")
    assert len(debian.kernel_packages("linux-image-rt-arm64/backports")) == 3
    assert len(suites) == 1
