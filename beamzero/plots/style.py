"""The style of all pictures: colours, a new figure, what stands on its axes, and the PNG file."""

from __future__ import annotations

import contextlib
import functools
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beamzero.core.errors import BadInput
from beamzero.storage.files import check_writable, write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which stay apart for colour-blind eyes.
BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#6B6B6B"
LOSS_STYLES = [(BLUE, "-"), (ORANGE, "--"), (GREEN, "-."), (PURPLE, ":")]
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "legend.frameon": False,
}

_NOTEBOOK_DPI = 90
"""How large a figure is in a notebook: pixels of the page to an inch."""


def plain(text: str) -> str:
    """Write a text for pictures as it is: dollars in it begin no formula."""
    return text.replace("$", r"\$")


@functools.cache
def _figure_class() -> type[Figure]:
    """Make the class of our figures, which a notebook draws also where pyplot is not in use."""
    from matplotlib.figure import Figure

    class Picture(Figure):
        def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
            picture = io.BytesIO()
            self.savefig(picture, format="png")
            return picture.getvalue(), {"width": round(_NOTEBOOK_DPI * self.get_figwidth())}

    return Picture


@contextlib.contextmanager
def new_figure(title: str, size: tuple[float, float], dpi: int = 150) -> Iterator[Figure]:
    """Begin a figure of `size` inches with a title. Drawings on it within the context have our style."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with matplotlib.rc_context(STYLE):
        figure = _figure_class()(figsize=size, dpi=dpi, layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(plain(title), x=0.01, horizontalalignment="left", fontweight="bold", wrap=True)
        yield figure
        for axes in figure.axes:  # their grids are made when the figure is rendered, outside of this context
            axes.tick_params(which="both", grid_color=STYLE["grid.color"])


def draw_anchors(axes: Axes, anchors: Mapping[str, float]) -> None:
    """Draw dashed lines with their names in the right margin, moved apart where they would touch."""
    names = sorted(anchors, key=lambda name: anchors[name])
    for name in names:
        axes.axhline(anchors[name], color=GREY, linestyle=(0, (5, 3)), linewidth=0.9, zorder=1.5)
    bottom, top = axes.get_ylim()
    axes.set_ylim(bottom, top)
    places = move_apart([anchors[name] for name in names], gap=0.06 * (top - bottom), top=top)
    for name, place in zip(names, places, strict=True):
        axes.annotate(
            f"{name}  {anchors[name]:.0f}",
            xy=(1.0, anchors[name]),
            xytext=(1.03, place),
            xycoords=("axes fraction", "data"),
            textcoords=("axes fraction", "data"),
            verticalalignment="center",
            fontsize=9,
            color=GREY,
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6, "shrinkB": 0, "relpos": (0, 0.5)},
        )


def move_apart(places: Sequence[float], gap: float, top: float) -> list[float]:
    """Move the rising `places` up until they are `gap` apart, and down again where they would pass `top`."""
    apart: list[float] = []
    for place in places:
        apart.append(max(place, apart[-1] + gap) if apart else place)
    ceiling = top
    for number in reversed(range(len(apart))):
        apart[number] = min(apart[number], ceiling)
        ceiling = apart[number] - gap
    return apart


def whole_numbers(axes: Axes) -> None:
    """Number the x axis without fractions: there is no iteration 1.5."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))


def legend_above(axes: Axes) -> None:
    """Put the legend in one row over the panel, where it cannot hide a curve."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(handles, labels, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(labels), fontsize=9)


def check_picture_path(path: Path) -> None:
    """Raise BadInput where no picture could be written, before the work begins. All of ours are PNG."""
    check_writable(path, "a picture is")
    if path.suffix.lower() != ".png":
        raise BadInput(f"a picture's file must end in .png, but {path.name!r} does not")


def write_png(figure: Figure, path: Path) -> None:
    """Write a figure, whole or not at all."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    write_atomically(path, picture.getvalue())
