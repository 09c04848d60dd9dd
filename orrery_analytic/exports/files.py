"""Writing files: never over one that is there, unless told."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from orrery_analytic.errors import QuantityError
from orrery_analytic.units import shown

__all__ = ["check_free", "folder_of", "write_all"]


def folder_of(folder: object) -> Path:
    """Return a folder as a path; nothing is made yet.

    Raises
    ------
    QuantityError
        If it is no path, or there is a file of that name.
    """
    if not isinstance(folder, str | os.PathLike) or not os.fspath(folder) or isinstance(os.fspath(folder), bytes):
        raise QuantityError(f"folder must be a path, such as 'paper/allreduce', but {shown(folder)} was given.")
    try:
        path = Path(folder).expanduser()
        nearest = next(each for each in (path, *path.parents) if each.exists())
    except (OSError, RuntimeError, ValueError) as error:
        raise _unmade(folder, error) from None
    if not nearest.is_dir():
        raise _unmade(folder, NotADirectoryError(0, f"{nearest} is a file"))
    return path


def _unmade(folder: object, error: Exception) -> QuantityError:
    reason = getattr(error, "strerror", None) or error
    return QuantityError(f"folder {shown(str(folder))} cannot be made ({reason}). Give a path to write to.")


def check_free(paths: Iterable[Path], overwrite: bool) -> None:
    """Refuse to write over files, unless told.

    Raises
    ------
    QuantityError
        Names the files that are there already.
    """
    try:
        there = [str(path) for path in paths if path.exists()]
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise QuantityError(f"files cannot be written there ({reason}). Give another path.") from None
    if there and not overwrite:
        raise QuantityError(f"{', '.join(there)}: there already. Give another path, or overwrite=True.")


def write_all(contents: Mapping[Path, str | bytes]) -> None:
    """Write files, text as UTF-8 with line feeds; folders that are not there are made, and gone if nothing was written.

    Raises
    ------
    QuantityError
        If one cannot be written.
    """
    for path, content in contents.items():
        missing = [folder for folder in path.parents if not folder.exists()]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            raise _unmade(path.parent, error) from None
        try:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        except (OSError, ValueError) as error:
            for folder in missing:
                folder.rmdir()
            reason = getattr(error, "strerror", None) or error
            raise QuantityError(f"{str(path)!r} cannot be written ({reason}). Give another path.") from None
