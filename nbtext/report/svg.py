"""
SVG by hand: elements, and a plot with two axes.

Numbers and texts go in, markup comes out. Every text is escaped, and colours are
classes of the page's style, so that a picture has no style of its own.
"""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Final, NamedTuple, TypeAlias

Point: TypeAlias = tuple[float, float]
"""In the units of a plot's axes."""

REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
"""What stands for a character that is not shown."""

WIDTH: Final = 400
HEIGHT: Final = 330
"""Size of a plot in units of its picture, which the page scales."""

LEFT: Final = 68
RIGHT: Final = 14
TOP: Final = 12
BOTTOM: Final = 46
"""Margins of a plot."""

DIGIT: Final = 7
"""How wide a digit of a label is at most, in units of its picture."""


def text_of(value: str) -> str:
    """Return a text for markup: escaped, and without what is not shown."""
    return escape(shown(value))


def shown(value: str) -> str:
    """Return a text without controls, marks of direction and what is not UTF-8."""
    safe = "".join(one if one.isprintable() else REPLACEMENT for one in value)
    return safe.encode("utf-8", "replace").decode()


def element(name: str, content: str = "", /, **attributes: str | float) -> str:
    """Return an element; underscores in names of attributes stand for hyphens."""
    parts = [name]
    for key, value in attributes.items():
        shown = value if isinstance(value, str) else f"{value:.2f}"
        parts.append(f'{key.rstrip("_").replace("_", "-")}="{text_of(shown)}"')
    return f"<{' '.join(parts)}>{content}</{name}>"


def picture(title: str, width: float, height: float, content: Iterable[str]) -> str:
    """Return an SVG that scales, with its title for those who do not see it."""
    named = element("title", text_of(title))
    return element(
        "svg", named + "".join(content),
        viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label=title,
    )  # fmt: skip


def ticks(
    low: float, high: float, written: Callable[[float], str]
) -> list[tuple[float, str]]:
    """Return five values from low to high, and how they are written."""
    values = [low + (high - low) * step / 4 for step in range(5)]
    return [(value, written(value)) for value in values]


SHARES: Final = ticks(0, 1, "{:g}".format)
"""Ticks of an axis from 0 to 1."""


class Axis(NamedTuple):
    """
    One axis of a plot.

    Attributes:
        title: what it shows.
        ticks: values, and how they are written; the first and the last are its ends.
        place: maps a value to where it is, before it is scaled to the plot.
    """

    title: str
    ticks: Sequence[tuple[float, str]]
    place: Callable[[float], float] = float

    def at(self, value: float) -> float:
        """Return where a value is, from 0 to 1; outside it is held to the ends."""
        low, high = self.place(self.ticks[0][0]), self.place(self.ticks[-1][0])
        return min(max((self.place(value) - low) / (high - low), 0.0), 1.0)


class Plot:
    """A picture with two axes, to which lines and bars are added."""

    def __init__(self, title: str, across: Axis, up: Axis) -> None:
        self._title = title
        self._across = across
        self._up = up
        self._parts: list[str] = []

    def line(self, points: Iterable[Point], kind: str) -> None:
        """Add a line through points; `kind` is a class of the page's style."""
        places = " ".join(f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in points)
        self._parts.append(element("polyline", points=places, class_=kind))

    def dot(self, point: Point, radius: float, kind: str, label: str) -> None:
        """Add a dot, and what is said where it is pointed at."""
        self._parts.append(
            element(
                "circle", element("title", text_of(label)),
                cx=self._x(point[0]), cy=self._y(point[1]), r=radius, class_=kind,
            )
        )  # fmt: skip

    def bar(
        self, low: float, high: float, height: float, kind: str, label: str
    ) -> None:
        """Add a bar from the lower axis up, and what is said where it is pointed at."""
        left, right, top = self._x(low), self._x(high), self._y(height)
        self._parts.append(
            element(
                "rect", element("title", text_of(label)),
                x=left, y=top, width=max(right - left - 0.5, 0.5),
                height=HEIGHT - BOTTOM - top, class_=kind,
            )
        )  # fmt: skip

    def svg(self) -> str:
        """Return the picture."""
        return picture(self._title, WIDTH, HEIGHT, [*self._frame(), *self._parts])

    def _frame(self) -> Iterable[str]:
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        for value, name in self._across.ticks:
            x = self._x(value)
            yield element("line", x1=x, y1=TOP, x2=x, y2=bottom, class_="grid")
            yield _below(name, x, bottom + 16)
        for value, name in self._up.ticks:
            y = self._y(value)
            yield element("line", x1=LEFT, y1=y, x2=right, y2=y, class_="grid")
            yield _label(name, LEFT - 6, y + 4, "end")
        yield _label(self._across.title, (LEFT + right) / 2, HEIGHT - 8, "middle")
        turned = f"rotate(-90 12 {(TOP + bottom) / 2:.0f})"
        middle = (TOP + bottom) / 2
        yield element(
            "text", text_of(self._up.title), x=12, y=middle, text_anchor="middle",
            transform=turned,
        )  # fmt: skip

    def _x(self, value: float) -> float:
        return LEFT + self._across.at(value) * (WIDTH - LEFT - RIGHT)

    def _y(self, value: float) -> float:
        return HEIGHT - BOTTOM - self._up.at(value) * (HEIGHT - TOP - BOTTOM)


def _below(text: str, x: float, y: float) -> str:
    """Return a label in the middle below a place; one too long for that ends there."""
    is_cut = x + len(text) * DIGIT / 2 > WIDTH
    return _label(text, WIDTH if is_cut else x, y, "end" if is_cut else "middle")


def _label(text: str, x: float, y: float, anchor: str) -> str:
    return element("text", text_of(text), x=x, y=y, text_anchor=anchor)
