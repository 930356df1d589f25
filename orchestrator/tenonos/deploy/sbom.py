"""Bill of materials in CycloneDX 1.6, as JSON (ECMA-424).

The document has a fixed shape of a few objects, so it is written as it is: the libraries for the
format bring parsers and validators, and put a time and a random serial number into each document.
Both are optional, and are left out: the same system is the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tenonos.deploy.contents import Component, Contents, unique


def document(name: str, found: Contents, files: Mapping[str, str]) -> str:
    """The document of a system: its contents, and its files with their SHA-256."""
    parts = unique(part for parts in found.images.values() for part in parts)
    system = {"bom-ref": "system", "type": "firmware", "name": name, "version": found.version}
    images: list[dict[str, Any]] = []
    for image in found.images:
        elf = files.get(f"elf/{image}.elf", "")
        images.append(
            {"type": "firmware", "bom-ref": f"image/{image}", "name": image, **_hashes(elf)}
        )
    listed = [
        {"type": "file", "bom-ref": f"file/{file}", "name": file, **_hashes(digest)}
        for file, digest in files.items()
    ]
    edges = [{"ref": "system", "dependsOn": [image["bom-ref"] for image in images]}]
    edges += [
        {"ref": f"image/{image}", "dependsOn": [part.key for part in unique(parts)]}
        for image, parts in found.images.items()
    ]
    return _text(
        {
            "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": {
                "tools": {"components": [_component(tool, "tool/") for tool in found.tools]},
                "component": system,
            },
            "components": [*images, *map(_component, parts), *listed],
            "dependencies": edges,
        }
    )


def _component(part: Component, prefix: str = "") -> dict[str, Any]:
    entry: dict[str, Any] = {
        "type": part.type,
        "bom-ref": prefix + part.key,
        "name": part.name,
        "version": part.version,
        **_hashes(part.sha256),
        "licenses": [{"expression": part.licence}] if part.licence else [],
        "purl": part.purl,
        "externalReferences": [{"type": "vcs", "url": part.source}] if part.source else [],
    }
    return {key: value for key, value in entry.items() if value}


def _hashes(digest: str) -> dict[str, Any]:
    return {"hashes": [{"alg": "SHA-256", "content": digest}]} if digest else {}


def _text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
