"""The numbers of a machine, by symbol."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from orrery_analytic.errors import QuantityError
from orrery_analytic.units import shown

__all__ = ["compare_bands", "machine_of", "parameters_of"]


def machine_of(machine: Any) -> Any:
    """Return the machine of a name or path; anything else as it is.

    Raises
    ------
    UnknownNameError, FileMissingError, FormatError
        As `load_machine`.
    """
    if not isinstance(machine, str | os.PathLike):
        return machine
    from orrery_analytic.machines import load_machine  # needs pydantic

    return load_machine(machine)


def parameters_of(machine: Any) -> Mapping[str, Any]:
    """Return the numbers of a machine by symbol: of a `Machine`, of its name or path, or of a mapping as it is.

    Raises
    ------
    UnknownNameError, FileMissingError, FormatError
        As `load_machine`.
    QuantityError
        For anything else.
    """
    source = getattr(machine_of(machine), "parameters", {} if machine is None else machine)
    if not isinstance(source, Mapping):
        raise QuantityError(
            f"a machine, its name, or a mapping of symbol names to numbers is allowed, not {shown(machine)}."
        )
    return source


def compare_bands(machine: Any, names: Iterable[str]) -> None:
    """Warn where the symbols that a machine gives numbers for are of fewer or more size bands than it has."""
    for copy, count in getattr(machine, "bands", {}).items():
        bands = [name.partition(copy)[2] for name in names if name.startswith((f"alpha_{copy}", f"beta_{copy}"))]
        made_for = max((int(band.lstrip("_") or 1) for band in bands), default=count)  # alpha_d2h, or alpha_d2h_1 ...
        if made_for != count:
            taken = "that of the largest sizes is taken for all" if made_for == 1 else "they do not fit"
            warnings.warn(
                f"{machine.name} has {count} size band(s) of {copy} copies, this cost is for {made_for}: {taken}. "
                "Make the cost with bands=machine.bands.",
                stacklevel=3,
            )
