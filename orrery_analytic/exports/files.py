"""Writing files: never over one that is there, unless told."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from orrery_analytic.errors import QuantityError
from orrery_analytic.units import shown

__all__ = ["check_free", "folder_of", "write_all"]


def folder_of(folder: object) -> Path:
    """Return a folder as a path, made if it is not there.

    Raises
    ------
    QuantityError
        If it is no path, or cannot be made.
    """
    if not isinstance(folder, str | os.PathLike) or not os.fspath(folder) or isinstance(os.fspath(folder), bytes):
        raise QuantityError(f"folder must be a path, such as 'paper/allreduce', but {shown(folder)} was given.")
    try:
        path = Path(folder).expanduser()
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise QuantityError(
            f"folder {shown(str(folder))} cannot be made ({reason}). Give a path to write to."
        ) from None
    return path


def check_free(paths: Iterable[Path], overwrite: bool) -> None:
    """Refuse to write over files, unless told.

    Raises
    ------
    QuantityError
        Names the files that are there already.
    """
    try:
        there = [str(path) for path in paths if path.exists()]
    except OSError as error:
        raise QuantityError(f"files cannot be written there ({error.strerror}). Give another path.") from None
    if there and not overwrite:
        raise QuantityError(f"{', '.join(there)}: there already. Give another folder, or overwrite=True.")


def write_all(contents: Mapping[Path, str | bytes]) -> None:
    """Write files, text as UTF-8 with line feeds.

    Raises
    ------
    QuantityError
        If one cannot be written.
    """
    for path, content in contents.items():
        try:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        except OSError as error:
            raise QuantityError(f"{path} cannot be written ({error.strerror or error}). Give another path.") from None
