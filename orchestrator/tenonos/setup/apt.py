"""A private apt, for arm64 packages by default, beside the system's and without root.

The system's own sources and keys are used, so nothing new is trusted; they are rewritten
for `Architectures: arm64` because adding the architecture to the system itself would
change every later `apt update` (and breaks it where arm64 lives on other mirrors).
All state is below one folder; only the trust anchors stay where the system keeps them.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tenonos import paths, ui
from tenonos.errors import WorkError

ARCHITECTURE = "arm64"
ALIASES = ("stable", "oldstable")
"""Names a sources.list may use in place of the codename."""

_ONE_LINE = re.compile(r"^deb\s+(?:\[(?P<options>[^\]]*)\]\s*)?(?P<rest>\S.*)$")
_PATH = re.compile(r"/debian(-security)?/?$")
_NETWORK = re.compile(r"Acquire::(?!IndexTargets|Changelogs|Languages)")


@dataclass(frozen=True)
class Source:
    """One entry of sources.list, in the terms of the deb822 format."""

    uris: str
    suites: tuple[str, ...]
    components: str
    signed_by: str | None = None

    def stanza(self, architecture: str = ARCHITECTURE) -> str:
        """The entry as a deb822 paragraph for one architecture."""
        lines = [
            "Types: deb",
            f"URIs: {self.uris}",
            f"Suites: {' '.join(self.suites)}",
            f"Components: {self.components}",
            f"Architectures: {architecture}",
        ]
        if self.signed_by:
            lines.append(f"Signed-By: {self.signed_by}")
        return "\n".join(lines) + "\n"


def parse_one_line(text: str) -> Iterator[Source]:
    """The `deb` lines of a sources.list."""
    for line in text.splitlines():
        match = _ONE_LINE.match(line.split("#")[0].strip())
        if not match:
            continue
        uri, suite, *components = match["rest"].split()
        options = dict(
            option.split("=", 1) for option in (match["options"] or "").split() if "=" in option
        )
        signed = options.get("signed-by")
        yield Source(uri, (suite,), " ".join(components), signed and signed.replace(",", " "))


def parse_deb822(text: str) -> Iterator[Source]:
    """The enabled `deb` paragraphs of a .sources file; an embedded key is kept as it is."""
    # Loaded here: only a set-up that fetches packages needs the library.
    from debian.deb822 import Deb822

    for fields in Deb822.iter_paragraphs(text, use_apt_pkg=False):
        if fields.get("Enabled", "yes").lower() in ("no", "false"):
            continue
        if "deb" in fields.get("Types", "").split() and "URIs" in fields:
            yield Source(
                " ".join(fields["URIs"].split()),
                tuple(fields.get("Suites", "").split()),
                " ".join(fields.get("Components", "").split()),
                fields.get("Signed-By"),
            )


def own_archive(sources: Iterable[Source], codename: str) -> list[Source]:
    """The sources of the distribution itself: its suites, component main.

    Third parties use the names of its suites too; asking them for arm64 costs time and could shadow
    the distribution's packages. So sources are selected by its key, or else by its path on mirrors;
    if neither matches (a company's mirror with its own key), by the names of the suites.
    """
    kinds = ("", "-updates", "-security", "/updates")
    sources = list(sources)
    own = {name + kind for name in (codename, *ALIASES) for kind in kinds}
    if certain := _kept((source for source in sources if _is_debian(source)), own):
        return certain
    return _kept(sources, {codename + kind for kind in kinds})


BACKPORTS = "backports"
"""The suite of newer packages for the release of the system."""


def of_suite(sources: Iterable[Source], codename: str, suite: str) -> list[Source]:
    """Another suite of the distribution, on the mirrors that have the release itself."""
    names = (codename, *ALIASES)
    wanted = f"{codename}-{BACKPORTS}" if suite == BACKPORTS else suite
    return [
        replace(source, suites=(wanted,))
        for source in own_archive(sources, codename)
        if any(suite in names for suite in source.suites)
    ]


def _is_debian(source: Source) -> bool:
    if source.signed_by:
        return "debian-archive" in source.signed_by
    return all(_PATH.search(uri) for uri in source.uris.split())


def _kept(sources: Iterable[Source], wanted: set[str]) -> list[Source]:
    kept = []
    for source in sources:
        suites = tuple(suite for suite in source.suites if suite in wanted)
        if suites and "main" in source.components.split():
            kept.append(Source(source.uris, suites, "main", source.signed_by))
    return kept


def os_release(path: Path = Path("/etc/os-release")) -> dict[str, str]:
    """The fields of os-release; empty where there is none."""
    fields = {}
    if path.exists():
        for line in path.read_text().splitlines():
            name, mark, value = line.partition("=")
            if mark:
                fields[name] = value.strip("\"'")
    return fields


def system_sources(etc: Path = Path("/etc/apt")) -> list[Source]:
    """All configured sources of the system."""
    parts = etc / "sources.list.d"
    found: list[Source] = []
    for file in [etc / "sources.list", *sorted(parts.glob("*.list"))]:
        if file.exists():
            found += parse_one_line(file.read_text())
    for file in sorted(parts.glob("*.sources")):
        found += parse_deb822(file.read_text())
    return found


class PrivateApt:
    """An apt with lists, cache and configuration below one folder."""

    def __init__(
        self,
        root: Path | None = None,
        architecture: str = ARCHITECTURE,
        suite: str | None = None,
    ) -> None:
        parts = ["apt"]
        parts += [architecture] if architecture != ARCHITECTURE else []
        parts += [suite] if suite else []
        self.root = root or paths.DOT / "-".join(parts)
        self.architecture = architecture
        self._suite = suite

    def _configuration(self) -> str:
        # The system's own configuration parts are left out, since their hooks expect
        # root; how to reach the network is kept.
        dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=False)
        network = [line for line in dump.stdout.splitlines() if _NETWORK.match(line)]
        own = {
            "APT::Architecture": self.architecture,
            "APT::Sandbox::User": "",
            "Acquire::Languages": "none",
            "Acquire::Retries": "5",
            "Dir::State": f"{self.root}/state",
            "Dir::State::status": f"{self.root}/status",
            "Dir::Cache": f"{self.root}/cache",
            "Dir::Etc::sourcelist": f"{self.root}/{self.architecture}.sources",
            "Dir::Etc::sourceparts": f"{self.root}/empty",
            "Dir::Etc::parts": f"{self.root}/empty",
            "Dir::Etc::main": f"{self.root}/none",
        }
        lines = [*network, "#clear APT::Architectures;"]
        lines += [f'APT::Architectures {{ "{self.architecture}"; }};']
        lines += [f'{name} "{value}";' for name, value in own.items()]
        return "\n".join(lines) + "\n"

    def prepare(self) -> None:
        """Write the folder, its sources and its configuration."""
        release = os_release()
        codename = release.get("VERSION_CODENAME", "")
        sources = own_archive(system_sources(), codename)
        if self._suite is not None:
            sources = of_suite(system_sources(), codename, self._suite)
        if release.get("ID") != "debian" or not sources:
            raise WorkError(
                "cannot tell which of this system's package sources is Debian's",
                mend="give the system a kernel and an initramfs by path",
            )
        for folder in ("state/lists/partial", "cache/archives/partial", "empty"):
            paths.ensure(self.root / folder)
        (self.root / "status").touch()
        text = "\n".join(source.stanza(self.architecture) for source in sources)
        (self.root / f"{self.architecture}.sources").write_text(text)
        (self.root / "apt.conf").write_text(self._configuration())

    def run(self, *arguments: str, folder: Path | None = None) -> str:
        """The output of an apt tool; WorkError with apt's message if it fails."""
        environment = dict(os.environ, APT_CONFIG=str(self.root / "apt.conf"), LC_ALL="C")
        done = subprocess.run(
            arguments, env=environment, cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            reasons = [line for line in done.stderr.splitlines() if line.startswith("E:")]
            reason = (reasons or done.stderr.splitlines() or ["no reason given"])[0]
            raise WorkError(f"{' '.join(arguments[:2])}: {reason.removeprefix('E: ')}")
        return done.stdout

    def update(self) -> None:
        """Fetch the package lists."""
        self.prepare()
        with ui.awaiting("fetching Debian's lists of packages"):
            self.run("apt-get", "-q", "-o", "APT::Update::Error-Mode=any", "update")

    def show(self, package: str) -> dict[str, str]:
        """The fields of the newest version of a package."""
        text = self.run("apt-cache", "show", "--no-all-versions", package)
        fields = {}
        for line in text.split("\n\n")[0].splitlines():
            if not line[:1].isspace() and ": " in line:
                name, value = line.split(": ", 1)
                fields[name] = value
        return fields

    def download(self, package: str, version: str, folder: Path) -> Path:
        """Fetch a package into `folder`; apt checks it against the signed lists."""
        paths.ensure(folder)
        self.run("apt-get", "-q", "download", f"{package}={version}", folder=folder)
        stem = f"{package}_{version.replace(':', '%3a')}"
        for architecture in (self.architecture, "all"):
            if (file := folder / f"{stem}_{architecture}.deb").exists():
                return file
        raise WorkError(f"apt fetched {package} under an unexpected name")
