"""The pages: their links lead somewhere, and the commands they name exist."""

import re
from pathlib import Path

import pytest

from tenonos import cli
from tenonos.paths import ROOT
from tenonos.run.result import Result, VmResult
from tenonos.system import from_spec, manifest, schema

PAGES = sorted(
    page
    for page in ROOT.rglob("*.md")
    if not {".tenon", "target", ".git"} & set(page.relative_to(ROOT).parts)
)
OFFERED = set(cli.LazyCommands(name="tenon").list_commands(None))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_commands(page):
    text = page.read_text()
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), f"no {target}"
    assert set(re.findall(r"(?:\./|^|`)tenon ([a-z]+)", text, re.MULTILINE)) <= OFFERED


@pytest.mark.parametrize("folder", ["docs/decisions", "docs/guides", "docs/measurements", "docs"])
def test_every_page_is_in_its_index(folder):
    index = (ROOT / folder / "README.md").read_text()
    for page in (ROOT / folder).glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index, f"{page.name} is not listed"


def test_the_readme_is_read_in_three_minutes():
    assert len((ROOT / "README.md").read_text().split()) <= 1000


def test_every_top_folder_states_what_it_holds():
    for name in (
        "bench",
        "boards",
        "docs",
        "examples",
        "linux",
        "orchestrator",
        "pool",
        "tests",
        "tools",
    ):
        assert (ROOT / name / "README.md").is_file(), name
    for layer in Path(ROOT / "pool").iterdir():
        assert layer.is_file() or (layer / "README.md").is_file(), layer


def test_every_key_of_a_result_is_explained():
    text = (ROOT / "docs" / "json.md").read_text()
    keys = (set(Result.model_fields) | set(VmResult.model_fields)) - {"problem", "paths"}
    assert not {key for key in keys if key not in text}


def test_every_key_of_a_system_is_explained_and_the_examples_hold():
    text = (ROOT / "docs" / "system.md").read_text()
    models = (
        schema.SystemSpec,
        schema.VmSpec,
        schema.TaskSpec,
        schema.ReserveSpec,
        schema.ManagesSpec,
        schema.TemplateSpec,
        schema.ChannelSpec,
    )
    models += (
        schema.CardSpec,
        schema.DetachSpec,
        schema.DiskSpec,
        schema.MachineSpec,
        schema.NativeSpec,
        schema.NetworkSpec,
        schema.PortSpec,
        schema.RegionSpec,
        schema.RegulationSpec,
        schema.VlibSpec,
    )
    fields = [field for model in models for field in model.model_fields.items()]
    keys = {field.alias or name for name, field in fields}
    tables = {"vm", "task", "reserve", "manages", "detach", "template", "channel", "vlib"}
    tables |= {"region", "regulation", "disk", "network", "port", "card", "native", "machine"}
    assert not {key for key in keys - tables if f"`{key}`" not in text}
    assert not {key for key in tables if not re.search(rf"\[[a-z.]*{key}\]", text)}
    examples = re.findall(r"^```toml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(examples) == 12
    for example in examples:
        spec, lines = schema.parse(example, "docs/system.md")
        assert from_spec(spec, ROOT / "docs" / "system.toml", "docs/system.md", lines)


def test_every_field_of_the_manifest_is_explained():
    text = (ROOT / "docs" / "formats.md").read_text()
    text = text[text.index("## Manifest") : text.index("## Guest header")]
    for record in (manifest.HEADER, *manifest.TABLES.values()):
        known = [field.name for field in record.subcons if not field.name.startswith("_")]
        assert not {name for name in known if f"`{name}`" not in text}
        assert f"{record.sizeof()} bytes" in text


@pytest.mark.parametrize("layer", ["mortise", "tenon"])
def test_the_table_of_a_layer_lists_its_crates(layer):
    folder = ROOT / "pool" / layer
    rows = re.findall(r"^\| (`[^|]*) \|", (folder / "README.md").read_text(), re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`([a-z0-9-]+)`", row)]
    assert sorted(listed) == sorted(path.parent.name for path in folder.glob("*/Cargo.toml"))


def test_the_tables_of_the_architecture_name_what_their_files_define():
    text = (ROOT / "docs" / "architecture.md").read_text()
    begin, end = text.index("## Four paths"), text.index("## Mortise, static")
    rows = [row for row in text[begin:end].splitlines() if ".rs)" in row]
    assert len(rows) > 20
    for row in rows:
        _, *links = re.split(r"\]\((\.\./[^)]+\.rs)\)", row)
        for page, rest in zip(links[::2], links[1::2], strict=True):
            names = re.findall(r"`([A-Za-z_:]+)`", rest.split("[")[0])
            assert names, f"{page}: no name in {row}"
            source = (ROOT / "docs" / page).read_text()
            for part in (part for name in names for part in name.split("::")):
                assert re.search(rf"\b{part}\b", source), f"no {part} in {page}"
