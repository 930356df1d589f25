"""`./tenon size`: bytes and source lines per micro-library, and which are shared."""

from __future__ import annotations

from typing import Any

from tenonos.options import AsJson, SystemArgument

BAR = 28


def command(
    system: SystemArgument = None,
    as_json: AsJson = False,
) -> None:
    """Show the size of images and libraries, and the libraries both kernels share.

    Example: ./tenon size motor-linux
    """
    from tenonos import system as systems
    from tenonos import ui
    from tenonos.build import build
    from tenonos.build.size import measure

    answer = measure(build(systems.load(system or "motor-linux")))
    if as_json:
        ui.print_json(answer)
        return
    kinds = ("text", "rodata", "data", "bss", "total")
    heads = ["image", *(f">{kind}" for kind in kinds), ">lines", "scheduler", "allocator"]
    ui.table(
        heads,
        (
            [
                image["name"],
                *(f"{image[kind]:,}" for kind in (*kinds, "linked_sloc")),
                *("yes" if image[part] else "no" for part in ("scheduler", "allocator")),
            ]
            for image in answer["images"]
        ),
    )
    _libraries(answer)
    _stacks(answer)
    _errata(answer)


def _errata(answer: dict[str, Any]) -> None:
    from tenonos import ui

    ui.table(
        ["erratum of the CPU", "handled by", "scanned"],
        ([row["erratum"], row["means"], " + ".join(row["scanned"])] for row in answer["errata"]),
    )


def _stacks(answer: dict[str, Any]) -> None:
    from tenonos import ui

    ui.table(
        ["stack", ">need", ">has", "made at"],
        (
            [
                f"{row['image']}: {row['name']}",
                f"{'' if row['bounded'] else '≥ '}{row['need']:,}",
                f"{row['size']:,}",
                row["place"] or "",
            ]
            for row in answer["stacks"]
        ),
    )
    for row in answer["stacks"]:
        if row["because"]:
            ui.message(f"{row['image']}: {row['name']}: {', '.join(row['because'])}")


def _libraries(answer: dict[str, Any]) -> None:
    from rich.text import Text

    from tenonos import ui

    images = len(answer["images"])
    rows = sorted(answer["libraries"], key=lambda row: -row["text"])
    rows += sorted(answer["third_party"], key=lambda row: -row["text"])
    most = max((row["text"] for row in rows), default=0) or 1
    ui.table(
        ["library", ">lines", ">text", "", "in"],
        (
            [
                row["name"],
                str(row.get("sloc", "")),
                f"{row['text']:,}",
                Text(bar(row["text"], most), style=style(row, images)),
                " + ".join(row["in"]),
            ]
            for row in rows
        ),
    )
    shared = [row["name"] for row in answer["libraries"] if len(row["in"]) > 1]
    if shared:
        ui.message(f"in more than one image: {', '.join(sorted(shared))}")


def bar(value: int, most: int) -> str:
    """A bar of that share of `BAR` columns, to an eighth of one."""
    eighths = round(value * BAR * 8 / most)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def style(row: dict[str, Any], images: int) -> str:
    """Green for a library in several images, blue for one in a single image, dim for a crate."""
    if "sloc" not in row:
        return "bright_black"
    return "green" if images > 1 and len(row["in"]) > 1 else "blue"
