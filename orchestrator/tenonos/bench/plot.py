"""Plots as SVG, drawn here: axes, lines with their names at the end, bars.

Colours are classes that the page's style sheet knows, for light and dark. What a point stands for
is its title, which browsers show under the pointer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from tenonos.bench.row import Number

WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 62, 164, 16, 46
APART = 15
"""Pixels between two names at the ends of lines."""


@dataclass(frozen=True)
class Line:
    """A series: its name, its class (`ours`, `second`, `third`, `peer`, `paper`), its points."""

    name: str
    style: str
    points: Sequence[tuple[Number, Number]]
    flat: bool = False
    """Drawn across the plot: a figure that is known not to depend on x, or a goal."""
    loose: bool = False
    """Points that nothing joins."""


@dataclass(frozen=True)
class Axis:
    """An axis, logarithmic or from zero."""

    name: str
    ticks: Sequence[Number]
    log: bool = False

    def share(self, value: Number) -> float:
        """Where a value lies between the first and the last tick."""
        first, last = (self._place(tick) for tick in (self.ticks[0], self.ticks[-1]))
        return (self._place(value) - first) / (last - first)

    def _place(self, value: Number) -> float:
        return math.log10(max(value, 1e-9)) if self.log else float(value)


def linear(name: str, most: Number) -> Axis:
    """An axis from zero to a round number above `most`."""
    raw = max(most, 1) / 4
    unit = 10 ** math.floor(math.log10(raw))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= raw)
    return Axis(name, [step * index for index in range(math.ceil(most / step) + 1)])


def decades(name: str, values: Sequence[Number]) -> Axis:
    """A logarithmic axis over powers of ten."""
    low = math.floor(math.log10(min(values)))
    high = max(math.ceil(math.log10(max(values))), low + 1)
    return Axis(name, [10**power for power in range(low, high + 1)], log=True)


def chart(title: str, x: Axis, y: Axis, lines: Sequence[Line]) -> str:
    """A line chart."""
    parts = [*_horizontal(y), *_vertical(x)]
    ends: list[tuple[float, str, str]] = []
    for line in lines:
        spots = [(_x(x, a), _y(y, b)) for a, b in line.points]
        if line.flat:
            height = spots[0][1]
            parts.append(_stroke([(LEFT, height), (WIDTH - RIGHT, height)], f"{line.style} flat"))
        elif len(spots) > 1 and not line.loose:
            parts.append(_stroke(spots, line.style))
        if not line.flat:
            for (a, b), (left, top) in zip(line.points, spots, strict=True):
                parts.append(
                    f'<circle class="{line.style}" cx="{left:.1f}" cy="{top:.1f}" r="3.5">'
                    f"<title>{escape(line.name)}, {x.name} {a:,}: {b:,}</title></circle>"
                )
        ends.append((spots[-1][1], line.name, line.style))
    parts += _names(ends)
    return _svg(title, HEIGHT, parts)


def _horizontal(y: Axis) -> list[str]:
    """The grid, its numbers, and what they are."""
    right = WIDTH - RIGHT
    parts = []
    for tick in y.ticks:
        at = _y(y, tick)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(_text(LEFT - 8, at + 4, short(tick), "tick", "end"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turn = f' transform="rotate(-90 14 {middle:.1f})"'
    return [*parts, _text(14, middle, y.name, "axis", "middle", turn)]


def _vertical(x: Axis) -> list[str]:
    bottom = HEIGHT - BOTTOM
    parts = []
    for tick in x.ticks:
        at = _x(x, tick)
        parts.append(
            f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{bottom}" y2="{bottom + 5}"/>'
        )
        parts.append(_text(at, bottom + 18, short(tick), "tick", "middle"))
    middle = (LEFT + WIDTH - RIGHT) / 2
    return [*parts, _text(middle, HEIGHT - 8, x.name, "axis", "middle")]


def _names(ends: Sequence[tuple[float, str, str]]) -> list[str]:
    """The names at the ends of the lines, from top to bottom, moved apart where they would meet."""
    places: list[float] = []
    ordered = sorted(ends)
    for at, _, _ in ordered:
        places.append(max(at, places[-1] + APART) if places else max(at, TOP))
    excess = places[-1] - (HEIGHT - BOTTOM) if places else 0
    for index in reversed(range(len(places))):
        limit = places[index + 1] - APART if index + 1 < len(places) else HEIGHT - BOTTOM
        if excess > 0:
            places[index] = min(places[index], limit)
    edge = WIDTH - RIGHT
    parts = []
    for place, (at, name, style) in zip(places, ordered, strict=True):
        path = f"M{edge + 2} {at:.1f}L{edge + 10} {place:.1f}"
        parts.append(f'<path class="lead" d="{path}"/>')
        parts.append(_text(edge + 14, place + 4, name, f"name {style}", "start"))
    return parts


@dataclass(frozen=True)
class Histogram:
    """How often values occurred, and lines across: goals, other kernels' worst."""

    name: str
    counts: Mapping[Number, int]
    limits: Sequence[tuple[str, Number]] = ()
    bins: int = 70


def histogram(title: str, name: str, drawn: Histogram) -> str:
    """Counts over values, logarithmic upwards, as an outlier is as interesting as the crowd."""
    most = max([*drawn.counts, *(value for _, value in drawn.limits)])
    x = linear(name, most)
    wide = max(x.ticks[-1] / drawn.bins, 1)
    bins: Counter[int] = Counter()
    for value, count in drawn.counts.items():
        bins[int(value / wide)] += count
    # From half a sample, so that a single one has a height.
    y = Axis("samples", [0.5, *decades("", [1, max(bins.values())]).ticks], log=True)
    parts = [*_horizontal(y), *_vertical(x)]
    for place, count in sorted(bins.items()):
        left, right = (_x(x, at * wide) for at in (place, place + 1))
        top = _y(y, count)
        words = f"{drawn.name}, {place * wide:,.0f} to {(place + 1) * wide:,.0f}: {count:,}"
        hint = f"<title>{escape(words)}</title>"
        width, height = max(right - left - 1, 2), HEIGHT - BOTTOM - top
        style = f'class="ours" x="{left:.1f}" y="{top:.1f}"'
        parts.append(f'<rect {style} width="{width:.1f}" height="{height:.1f}">{hint}</rect>')
    for number, (words, value) in enumerate(drawn.limits):
        at = _x(x, value)
        line = f'x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"'
        parts.append(f'<line class="mark" {line}/>')
        parts.append(_text(at + 5, TOP + 12 + 15 * number, words, "tick", "start"))
    parts.append(_text(LEFT + 6, TOP + 12, drawn.name, "label", "start"))
    return _svg(title, HEIGHT, parts)


@dataclass(frozen=True)
class Bar:
    """A bar: its name, its pieces with their classes, and what is written behind it."""

    name: str
    pieces: Sequence[tuple[str, Number, str]]
    words: Sequence[str]
    mark: Number | None = None
    """A line across the bar: the goal."""


@dataclass(frozen=True)
class Frame:
    """The room for bars: the whole width, that of the names, the columns behind the bars."""

    width: int = WIDTH
    names: int = 190
    columns: Sequence[tuple[int, str, str]] = ((70, "end", "words"),)
    """How far from the end of the bars, aligned how, in which class."""
    heads: Sequence[str] = ()
    behind: int = 110
    """Of the width, what the columns take."""


def bars(title: str, rows: Sequence[Bar], most: Number, frame: Frame | None = None) -> str:
    """Horizontal bars, in pieces one after another, up to `most`; what is longer is cut."""
    frame = frame or Frame()
    height, pitch = 13, 28
    first = 28 if frame.heads else 8
    end = frame.width - frame.behind
    room = end - frame.names
    parts = list(_columns(frame, end, 14, frame.heads, "tick"))
    for index, row in enumerate(rows):
        top = first + index * pitch
        parts.append(_text(frame.names - 12, top + 11, row.name, "label", "end"))
        parts.append(_box(frame.names, top, room, height, "track"))
        at = float(frame.names)
        for name, value, style in row.pieces:
            width = min(value / most * room, end - at)
            hint = f"<title>{escape(row.name)}, {escape(name)}: {value:,.4g}</title>"
            parts.append(_box(at, top, width, height, style, hint))
            at += width
        if row.mark is not None:
            place = frame.names + min(row.mark / most, 1) * room
            line = f'x1="{place:.1f}" x2="{place:.1f}" y1="{top - 3}" y2="{top + height + 3}"'
            parts.append(f'<line class="mark" {line}/>')
        parts += _columns(frame, end, top + 11, row.words)
    return _svg(title, first + len(rows) * pitch, parts, frame.width)


def _columns(
    frame: Frame, end: int, top: int, words: Sequence[str], style: str | None = None
) -> Iterator[str]:
    for (offset, anchor, usual), word in zip(frame.columns, words, strict=False):
        yield _text(end + offset, top, word, style or usual, anchor)


def short(value: Number) -> str:
    """A number for an axis."""
    if value >= 1_000_000:
        return f"{value / 1_000_000:g} M"
    if value >= 100_000:
        return f"{value / 1_000:g} k"
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def _svg(title: str, height: int, parts: Sequence[str], width: int = WIDTH) -> str:
    head = f'<svg viewBox="0 0 {width} {height}" role="img" xmlns="http://www.w3.org/2000/svg">'
    return "\n".join([head, f"<title>{escape(title)}</title>", *parts, "</svg>"])


def stacked(plots: Sequence[str]) -> str:
    """Plots of one width in one drawing, below each other."""
    parts: list[str] = []
    for index, plot in enumerate(plots):
        inside = plot[plot.index(">") + 1 : plot.rindex("</svg>")]
        parts.append(f'<g transform="translate(0 {index * HEIGHT})">{inside}</g>')
    return _svg("Delays", HEIGHT * len(plots), parts)


def _stroke(points: Sequence[tuple[float, float]], style: str) -> str:
    path = "L".join(f"{left:.1f} {top:.1f}" for left, top in points)
    return f'<path class="line {style}" d="M{path}"/>'


def _box(left: float, top: float, width: float, height: float, style: str, hint: str = "") -> str:
    size = f'width="{max(width, 0):.1f}" height="{height:g}"'
    return f'<rect class="{style}" x="{left:.1f}" y="{top:g}" {size} rx="2">{hint}</rect>'


def _text(left: float, top: float, words: str, style: str, anchor: str, more: str = "") -> str:
    place = f'x="{left:.1f}" y="{top:.1f}" text-anchor="{anchor}"'
    return f'<text class="{style}" {place}{more}>{escape(words)}</text>'


def _x(axis: Axis, value: Number) -> float:
    return LEFT + axis.share(value) * (WIDTH - LEFT - RIGHT)


def _y(axis: Axis, value: Number) -> float:
    return HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - TOP - BOTTOM)
