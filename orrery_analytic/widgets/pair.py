"""One machine, or two that stand beside each other: what an explorer takes, and how its lists name them."""

from __future__ import annotations

import os
from typing import Any

from orrery_analytic.errors import QuantityError
from orrery_analytic.machines import Machine, list_machines, load_machine
from orrery_analytic.units import shown

__all__ = ["NOTHING", "offered_machines", "two_machines"]

NOTHING = "nothing"
"""What stands beside a machine if it is no second one."""


def two_machines(given: Any) -> tuple[Machine, Machine | None]:
    """Return one or two machines from what an explorer was given: a name, a path, a Machine, or two of these.

    Raises
    ------
    QuantityError
        For more than two, or for something else.
    """
    several = list(given) if isinstance(given, tuple | list) else [given]
    if not 1 <= len(several) <= 2:
        raise QuantityError(
            f"machine holds {len(several)} machines, but one axis shows one, or two beside each other: "
            'machine=("musica", "leonardo").'
        )
    found = [load_machine(m) if isinstance(m, str | os.PathLike) else m for m in several]
    for machine, asked in zip(found, several, strict=True):
        if not isinstance(machine, Machine):
            raise QuantityError(f"machine is a Machine, or the name or path of its file, but {shown(asked)} was given.")
    return found[0], found[1] if len(found) == 2 else None


def offered_machines(base: Machine, second: Machine | None) -> dict[str, Machine]:
    """Return the machines of the lists by label: those that were given, and the packaged ones."""
    found = {base.name: base}
    if second is not None:
        label = second.name
        while label in found:
            label += ", beside"
        found[label] = second
    return found | {name: load_machine(name) for name in list_machines() if name not in found}
