"""Formulas for what GPU-aware MPI costs: symbols, schedules, algorithms, machines, pictures.

``import orrery_analytic`` loads SymPy and NumPy; the rest of the libraries are loaded where they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from orrery_analytic.algebra import derive
from orrery_analytic.calls import collective_cost, kernel_cost, p2p_cost
from orrery_analytic.collectives import claims, list_algorithms, rounds, schedule, verify
from orrery_analytic.cost import Cost
from orrery_analytic.decisions import list_collectives, select
from orrery_analytic.errors import OrreryError
from orrery_analytic.networks import Hockney, LogGP, TwoLevel
from orrery_analytic.predict import predict
from orrery_analytic.schedules import Schedule
from orrery_analytic.schedules.goal import read_goal, write_goal
from orrery_analytic.schedules.messages import read_messages, write_messages
from orrery_analytic.symbols import describe, log2_ceil, log2_floor

__version__ = "0.1.0"

# Loaded at first use: each of these needs pydantic, pandas, Matplotlib or ipywidgets.
_LATER = {
    "Machine": "machines",
    "list_machines": "machines",
    "load_machine": "machines",
    "read": "logs",
    "explore": "widgets",
}

__all__ = [
    "Cost",
    "Hockney",
    "LogGP",
    "Machine",
    "OrreryError",
    "Schedule",
    "TwoLevel",
    "claims",
    "collective_cost",
    "derive",
    "describe",
    "explore",
    "kernel_cost",
    "list_algorithms",
    "list_collectives",
    "list_machines",
    "load_machine",
    "log2_ceil",
    "log2_floor",
    "p2p_cost",
    "predict",
    "read",
    "read_goal",
    "read_messages",
    "rounds",
    "schedule",
    "select",
    "verify",
    "write_goal",
    "write_messages",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
