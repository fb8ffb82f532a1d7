"""Figures as PNG files, written whole or not at all."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from beamzero.core.errors import BadInput
from beamzero.storage.files import check_writable, write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
