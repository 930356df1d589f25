"""Minimal Debian systems for tests of the setup: debootstrap's, with git and nothing else."""

import contextlib
import os
import shutil
import subprocess
import uuid
from pathlib import Path

import pytest

from tenonos import paths
from tenonos.setup import apt

CACHE = paths.CACHE / "bootstrap"
BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
HANDED_ON = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
CODENAMES = {12: "bookworm", 13: "trixie"}


def host(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, **more)


def archive():
    """The machine's own Debian sources: (URI, suite without the codename, key)."""
    codename = apt.os_release().get("VERSION_CODENAME", "")
    return [
        (source.uris, suite.removeprefix(codename))
        for source in apt.own_archive(apt.system_sources(), codename)
        for suite in source.suites
    ]


def minimal_root(release):
    """A tar of the minimal root file system, made once."""
    codename = CODENAMES[release]
    tar = paths.ensure(CACHE) / f"{codename}.tar"
    if not tar.exists():
        folder = CACHE / f"{codename}.new"
        shutil.rmtree(folder, ignore_errors=True)
        mirror = next(uri for uri, kind in archive() if kind == "")
        host("debootstrap", "--variant=minbase", "--include=git", codename, folder, mirror)
        part = tar.with_suffix(".part")
        host("tar", "-C", folder, "--numeric-owner", "-cf", part, ".")
        part.rename(tar)
        shutil.rmtree(folder)
    return tar


class Machine:
    """A minimal system in a folder, entered by chroot."""

    def __init__(self, release):
        self.release = release
        self.root = paths.ensure(paths.RUN) / f"debian{release}-{uuid.uuid4().hex[:8]}"
        self.mounts = []

    def start(self):
        paths.ensure(self.root)
        host("tar", "-C", self.root, "-xf", minimal_root(self.release))
        codename = CODENAMES[self.release]
        lines = [f"deb {uri} {codename}{kind} main\n" for uri, kind in archive()]
        (self.root / "etc/apt/sources.list").write_text("".join(lines))
        shutil.copy(KEYRING, self.root / "etc/apt/trusted.gpg.d/")
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")
        # The certificates and sources of this machine, as an administrator would install them.
        if BUNDLE.exists():
            trusted = paths.ensure(self.root / "usr/local/share/ca-certificates")
            shutil.copy(BUNDLE, trusted / "host.crt")
        debs = paths.ensure(CACHE / f"debs-{codename}")
        paths.ensure(debs / "partial")
        self.mount("/proc", "proc")
        self.mount("/dev", "dev")
        self.mount(debs, "var/cache/apt/archives")

    def mount(self, source, inside):
        target = paths.ensure(self.root / inside)
        host("mount", "--bind", source, target)
        self.mounts.append(target)

    def stop(self):
        for target in reversed(self.mounts):
            subprocess.run(["umount", "--lazy", target], check=False)
        self.mounts = []
        shutil.rmtree(self.root, ignore_errors=True)

    def run(self, command, user="root", network=True, path="", seconds=1500):
        """Runs a shell command in the system as a fresh login without a terminal."""
        home = "/root" if user == "root" else f"/home/{user}"
        environment = {
            "HOME": home,
            "USER": user,
            "LANG": "C.UTF-8",
            "PATH": f"{path}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "CARGO_NET_RETRY": "5",
        } | {name: os.environ[name] for name in HANDED_ON if name in os.environ}
        inside = ["chroot", f"--userspec={user}", self.root, "sh", "-c", f"cd {home} && {command}"]
        outside = [] if network else ["unshare", "--net"]
        done = subprocess.run(
            [str(word) for word in [*outside, *inside]],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        print(f"$ {command}  # {user}, status {done.returncode}")
        print(done.stdout[-6000:] + done.stderr[-6000:])
        return done

    def clone(self, home="root", owner=None):
        """A fresh clone of the state under test, including uncommitted changes."""
        target = self.root / home / "tenonos"
        host("git", "clone", "--quiet", "--no-hardlinks", paths.ROOT, target)
        listed = ["git", "-C", paths.ROOT, "ls-files", "-z", "-m", "-o", "--exclude-standard"]
        changed = host(*listed, capture_output=True, text=True).stdout.split("\0")
        for name in filter(None, changed):
            if (paths.ROOT / name).is_file():
                paths.ensure((target / name).parent)
                shutil.copy2(paths.ROOT / name, target / name)
        if owner:
            owned = host("chroot", self.root, "id", "-u", owner, capture_output=True, text=True)
            host("chown", "-R", owned.stdout.strip(), target)


@pytest.fixture(scope="module")
def machines():
    """A factory of machines, which are removed at the end of the module."""
    if os.geteuid() != 0 or not apt.own_archive(apt.system_sources(), host_codename()):
        pytest.skip("needs root on a Debian system")
    for program in ("debootstrap", "unshare", "chroot"):
        if not shutil.which(program):
            pytest.skip(f"needs {program}")
    with contextlib.ExitStack() as made:

        def make(release):
            machine = Machine(release)
            made.callback(machine.stop)
            machine.start()
            return machine

        yield make


def host_codename():
    return apt.os_release().get("VERSION_CODENAME", "")
