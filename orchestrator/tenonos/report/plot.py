"""Line charts, histograms and bar charts as SVG, drawn by matplotlib.

Sizes are in pixels, which are matplotlib's points. matplotlib writes fixed colours and has no tool
tips, so its output is completed here: colours become the variables of the page's style sheet, which
differ between light and dark; a point or a bar gets a title, which browsers show under the pointer;
identifiers and references, which would meet on a page with several plots, are taken out.
"""

from __future__ import annotations

import io
import math
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from tenonos import markup, paths

Number = int | float

WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 72, 164, 16, 46
APART = 15
"""Pixels between two names at the ends of lines."""

_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_SETTINGS = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "tenon",  # the same rows give the same bytes
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 12.5,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.spines.bottom": False,
    "axes.axisbelow": True,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "xtick.major.size": 0,
    "xtick.major.pad": 8,
    "ytick.major.size": 0,
    "ytick.major.pad": 8,
}


@dataclass(frozen=True)
class Line:
    """A series: its name, its colour (`ours`, `second`, `third`, `peer`, `goal`), its points."""

    name: str
    style: str
    points: Sequence[tuple[Number, Number]]
    flat: bool = False
    """Drawn across the plot: a figure that is known not to depend on x, or a goal."""
    loose: bool = False
    """Points that are not joined by a line."""


@dataclass(frozen=True)
class Axis:
    """An axis from its first to its last tick, linear or logarithmic."""

    name: str
    ticks: Sequence[Number]
    log: bool = False


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
    drawing = _Drawing(WIDTH, HEIGHT)
    axes = drawing.axes(x, y)
    for line in lines:
        if line.flat:
            dashes = (0, (7, 4)) if line.style == "goal" else (0, (2, 4))
            colour = drawing.colours[line.style]
            axes.axhline(
                line.points[0][1], color=colour, linewidth=1.5, linestyle=dashes, clip_on=False
            )
        else:
            _series(drawing, axes, x, line)
    _names(drawing, axes, lines)
    return drawing.svg(title)


def _series(drawing: _Drawing, axes: Any, x: Axis, line: Line) -> None:
    """The points of a series, each with a title, and the line that joins them."""
    style: dict[str, Any] = {"color": drawing.colours[line.style], "clip_on": False}
    if not line.loose:
        axes.plot(*zip(*line.points, strict=True), linewidth=2.2, **style)
    for a, b in line.points:
        words = f"{line.name}, {x.name} {a:,}: {b:,}"
        mark = drawing.note(f"point {line.style}", words)
        axes.plot([a], [b], "o", markersize=7, markeredgewidth=0, gid=mark, **style)


def _names(drawing: _Drawing, axes: Any, lines: Sequence[Line]) -> None:
    """The names at the ends of the lines, from top to bottom, moved apart where they would meet."""
    to_pixels = axes.transData.transform
    ends = sorted((HEIGHT - to_pixels(line.points[-1])[1], line.name, line.style) for line in lines)
    places: list[float] = []
    for at, _, _ in ends:
        places.append(max(at, places[-1] + APART) if places else max(at, TOP))
    if places and places[-1] > HEIGHT - BOTTOM:
        limit = float(HEIGHT - BOTTOM)
        for index in reversed(range(len(places))):
            places[index] = min(places[index], limit)
            limit = places[index] - APART
    edge = WIDTH - RIGHT
    for place, (at, name, style) in zip(places, ends, strict=True):
        drawing.line([(edge + 2, at), (edge + 10, place)], "rule", width=1)
        drawing.text(edge + 14, place, name, "name", "left", colour=style, bold=True)


@dataclass(frozen=True)
class Histogram:
    """How often values occurred, and limits to be marked: goals, the worst of other kernels."""

    name: str
    counts: Mapping[Number, int]
    limits: Sequence[tuple[str, Number]] = ()
    bins: int = 70


def histogram(title: str, name: str, drawn: Histogram) -> str:
    """Counts over values; logarithmic upwards, so that a single outlier is visible."""
    return histograms(title, name, [drawn])


def histograms(title: str, name: str, drawn: Sequence[Histogram]) -> str:
    """Several histograms below each other, each with its own axes."""
    drawing = _Drawing(WIDTH, HEIGHT * len(drawn))
    for index, one in enumerate(drawn):
        _histogram(drawing, index * HEIGHT, name, one)
    return drawing.svg(title)


def _histogram(drawing: _Drawing, below: int, name: str, drawn: Histogram) -> None:
    most = max([*drawn.counts, *(value for _, value in drawn.limits)])
    x = linear(name, most)
    wide = max(x.ticks[-1] / drawn.bins, 1)
    bins: Counter[int] = Counter()
    for value, count in drawn.counts.items():
        bins[int(value / wide)] += count
    # From half a sample, so that a single one has a height.
    y = Axis("samples", [0.5, *decades("", [1, max(bins.values())]).ticks], log=True)
    axes = drawing.axes(x, y, below)
    for place, count in sorted(bins.items()):
        left = place * wide
        words = f"{drawn.name}, {left:,.0f} to {left + wide:,.0f}: {count:,}"
        low = y.ticks[0]
        shape = axes.bar(left, count - low, 0.9 * wide, low, align="edge", clip_on=False)
        shape.patches[0].set(gid=drawing.note("ours", words), color=drawing.colours["ours"])
    for number, (words, value) in enumerate(drawn.limits):
        axes.axvline(value, color=drawing.colours["goal"], linewidth=2, clip_on=False)
        at, _ = axes.transData.transform((value, 1))
        drawing.text(at + 5, below + TOP + 8 + 15 * number, words, "tick", "left")
    drawing.text(LEFT + 6, below + TOP + 8, drawn.name, "label", "left", colour="ink")


@dataclass(frozen=True)
class Bar:
    """A bar: its name, its pieces with their colours, and the text behind it."""

    name: str
    pieces: Sequence[tuple[str, Number, str]]
    words: Sequence[str]
    mark: Number | None = None
    """A line across the bar: the goal."""


@dataclass(frozen=True)
class Frame:
    """The layout of a bar chart: the whole width, that of the names, the columns behind."""

    width: int = WIDTH
    names: int = 190
    columns: Sequence[tuple[int, str, str]] = ((70, "right", "words"),)
    """For each column its distance from the end of the bars, its alignment, its class."""
    heads: Sequence[str] = ()
    behind: int = 110
    """The width of the columns together."""


def bars(title: str, rows: Sequence[Bar], most: Number, frame: Frame | None = None) -> str:
    """Horizontal bars, in pieces one after another, up to `most`; what is longer is cut."""
    frame = frame or Frame()
    height, pitch = 13, 28
    first = 28 if frame.heads else 8
    end = frame.width - frame.behind
    drawing = _Drawing(frame.width, first + len(rows) * pitch)
    scale = (end - frame.names) / most
    _columns(drawing, frame, end, 10, frame.heads, "tick")
    for index, row in enumerate(rows):
        top = first + index * pitch
        middle = top + height / 2
        drawing.text(frame.names - 12, middle, row.name, "label", "right", colour="ink")
        drawing.box(frame.names, top, end - frame.names, height, "track")
        at = float(frame.names)
        for name, value, style in row.pieces:
            width = max(min(value * scale, end - at), 0)
            drawing.box(at, top, width, height, style, f"{row.name}, {name}: {value:,.4g}")
            at += width
        if row.mark is not None:
            place = frame.names + min(row.mark, most) * scale
            drawing.line([(place, top - 3), (place, top + height + 3)], "goal", width=2)
        _columns(drawing, frame, end, middle, row.words)
    return drawing.svg(title)


def _columns(
    drawing: _Drawing,
    frame: Frame,
    end: int,
    top: float,
    words: Sequence[str],
    style: str | None = None,
) -> None:
    for (offset, align, usual), word in zip(frame.columns, words, strict=False):
        kind = style or usual
        value = kind == "value"
        colour = "ink" if value else "soft"
        drawing.text(end + offset, top, word, kind, align, colour=colour, bold=value)


def short(value: Number) -> str:
    """A number for an axis."""
    if value >= 1_000_000:
        return f"{value / 1_000_000:g} M"
    if value >= 100_000:
        return f"{value / 1_000:g} k"
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


class _Drawing:
    """A matplotlib figure with positions in pixels from the top left corner."""

    def __init__(self, width: int, height: int) -> None:
        # Imported here: only plots need the library, which takes half a second. It caches a list of
        # the machine's fonts.
        os.environ.setdefault("MPLCONFIGDIR", str(paths.CACHE / "matplotlib"))
        import matplotlib
        from matplotlib.figure import Figure

        self.width, self.height = width, height
        self.colours = markup.colours()
        self._notes: dict[str, tuple[str, str]] = {}
        self._settings = matplotlib.rc_context(_SETTINGS)
        self._settings.__enter__()
        self._figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        self._figure.patch.set_visible(False)

    def axes(self, x: Axis, y: Axis, below: int = 0) -> Any:
        """Axes in a frame of `HEIGHT` that begins `below` the top."""
        bottom = self.height - below - HEIGHT + BOTTOM
        size = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM)
        place = (LEFT / self.width, bottom / self.height)
        axes = self._figure.add_axes((*place, size[0] / self.width, size[1] / self.height))
        axes.patch.set_visible(False)
        for known, axis in ((x, axes.xaxis), (y, axes.yaxis)):
            axis._set_axes_scale("log" if known.log else "linear")
            axis.set_ticks(known.ticks, labels=[*map(short, known.ticks)])
            axis.set_ticks([], minor=True)
            axis.set_tick_params(color=self.colours["rule"], labelcolor=self.colours["soft"])
            axis.set_label_text(known.name, color=self.colours["soft"])
        axes.set_xlim(x.ticks[0], x.ticks[-1])
        axes.set_ylim(y.ticks[0], y.ticks[-1])
        axes.yaxis.set_label_coords(-56 / size[0], 0.5)
        axes.grid(axis="y", color=self.colours["rule"], linewidth=1, clip_on=False)
        return axes

    def note(self, style: str, hint: str = "") -> str:
        """The identifier of a shape that is to have a class and a title."""
        name = f"note-{len(self._notes)}"
        self._notes[name] = (style, hint)
        return name

    def text(
        self,
        left: float,
        top: float,
        words: str,
        style: str,
        align: str,
        *,
        colour: str = "soft",
        bold: bool = False,
    ) -> None:
        """A line of text, vertically centred at `top`."""
        self._figure.text(
            left / self.width,
            1 - (top + 4) / self.height,
            words,
            color=self.colours[colour],
            fontweight="bold" if bold else "normal",
            horizontalalignment=align,
            verticalalignment="baseline",
            gid=self.note(style),
        )

    def line(self, points: Sequence[tuple[float, float]], colour: str, width: float) -> None:
        """A line through points."""
        from matplotlib.lines import Line2D

        across, up = zip(*((x / self.width, 1 - y / self.height) for x, y in points), strict=True)
        colour = self.colours[colour]
        self._figure.add_artist(Line2D(across, up, color=colour, linewidth=width))

    def box(
        self, left: float, top: float, width: float, height: float, style: str, hint: str = ""
    ) -> None:
        """A filled rectangle."""
        from matplotlib.patches import Rectangle

        corner = (left / self.width, 1 - (top + height) / self.height)
        size = (width / self.width, height / self.height)
        note = self.note(style, hint)
        box = Rectangle(
            corner, *size, linewidth=0, gid=note, facecolor=self.colours[style], clip_on=False
        )
        self._figure.add_artist(box)

    def svg(self, title: str) -> str:
        """The drawing as an element that can stand in a page."""
        written = io.BytesIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        self._figure.savefig(written, format="svg", metadata=nothing)
        self._settings.__exit__(None, None, None)
        root = ElementTree.fromstring(written.getvalue())
        figure = root.find(f"{{{_SVG}}}g")
        assert figure is not None
        drawn = ElementTree.Element(
            f"{{{_SVG}}}svg", {"viewBox": f"0 0 {self.width} {self.height}", "role": "img"}
        )
        ElementTree.SubElement(drawn, f"{{{_SVG}}}title").text = title
        drawn.extend(figure)
        for element in [*drawn.iter()]:
            for defined in element.findall(f"{{{_SVG}}}defs"):
                element.remove(defined)
            self._complete(element)
        ElementTree.register_namespace("", _SVG)
        text = ElementTree.tostring(drawn, encoding="unicode")
        for name, colour in self.colours.items():
            text = text.replace(f": {colour}", f": var(--{name})")
        return re.sub(r"\n\s*", "\n", text).replace("\n</svg>", "</svg>")

    def _complete(self, element: ElementTree.Element) -> None:
        """Add class and title to an element, and remove identifiers and fonts."""
        name = element.get("id", "")
        if name in self._notes:
            style, hint = self._notes[name]
            shape = next((one for one in element if one.tag == f"{{{_SVG}}}text"), element)
            shape.set("class", style)
            if hint:
                title = ElementTree.Element(f"{{{_SVG}}}title")
                title.text = hint
                element.insert(0, title)
        element.attrib.pop("id", None)
        # The page selects the font; matplotlib's is used for measuring only.
        if style := element.get("style"):
            element.set("style", re.sub(r"font(-size|-family)?: [^;]*;\s*", _weight, style))
        if element.tag == f"{{{_SVG}}}use":
            _to_circle(element)


def _weight(font: re.Match[str]) -> str:
    return "font-weight: 600; " if "700" in font[0] else ""


def _to_circle(marker: ElementTree.Element) -> None:
    """A circle in place of a reference to one, so that a plot refers to nothing."""
    place = {"cx": marker.attrib.pop("x"), "cy": marker.attrib.pop("y"), "r": "3.5"}
    marker.attrib.pop(f"{{{_LINK}}}href")
    marker.tag = f"{{{_SVG}}}circle"
    marker.attrib.update(place)
