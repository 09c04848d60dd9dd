"""Formulas for what GPU-aware MPI costs: symbols, schedules, algorithms, machines, pictures.

``import orrery_analytic`` loads SymPy and NumPy; the rest of the libraries are loaded where they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from orrery_analytic.algebra import (
    asymptotics,
    crossover,
    derive,
    distance_to_bound,
    dominant_term,
    elasticity,
    guideline,
    guidelines,
    half_performance,
    invert,
    lower_bound,
    optimal_segment,
)
from orrery_analytic.applications import Jacobi
from orrery_analytic.busbw import bus_bandwidth, bus_factor, nccl_message_size, seconds_at_bus_bandwidth
from orrery_analytic.calls import (
    bounce_threshold,
    by_hand_cost,
    collective_cost,
    device_cost,
    kernel_cost,
    p2p_cost,
    staging_threshold,
)
from orrery_analytic.collectives import claims, list_algorithms, rounds, schedule, verify
from orrery_analytic.cost import Cost
from orrery_analytic.decisions import RuleFile, list_collectives, read_rules, select
from orrery_analytic.errors import OrreryError
from orrery_analytic.gpu import (
    best_fragment,
    bounce_copies,
    fragment_threshold,
    optimal_fragment,
    pipeline_stages,
)
from orrery_analytic.kernels import machine_balance, overlap, roofline_rate
from orrery_analytic.networks import Hockney, LogGP, TwoLevel
from orrery_analytic.predict import predict
from orrery_analytic.schedules import Schedule
from orrery_analytic.schedules.goal import read_goal, write_goal
from orrery_analytic.schedules.messages import read_messages, write_messages
from orrery_analytic.selection import best, choice_map, regret, selected_cost, tune
from orrery_analytic.symbols import describe, log2_ceil, log2_floor

__version__ = "0.1.0"

# Loaded at first use: each of these needs pydantic, pandas, Matplotlib or ipywidgets.
_LATER = {
    "derivation": "algebra.derivations.story",
    "export": "exports",
    "save_figure": "exports",
    "Fit": "calibration",
    "Machine": "machines",
    "add_bounce": "calibration",
    "calibrate": "calibration",
    "chance": "calibration",
    "fit": "calibration",
    "fit_bounce": "calibration",
    "predict_band": "calibration",
    "with_rendezvous": "calibration",
    "list_machines": "machines",
    "load_machine": "machines",
    "audit": "logs.audit",
    "read": "logs",
    "read_trace": "logs.traces",
    "write_trace": "logs.traces",
    "explore": "widgets",
    "explore_busbw": "widgets.busbw",
    "explore_choices": "widgets",
    "explore_costs": "widgets.costs",
    "explore_crossover": "widgets.algebra",
    "explore_live": "widgets.live",
    "explore_schedule": "widgets",
    "javascript": "widgets.javascript",
    "live_page": "widgets.live",
}

__all__ = [
    "Cost",
    "Fit",
    "Hockney",
    "Jacobi",
    "LogGP",
    "Machine",
    "OrreryError",
    "RuleFile",
    "Schedule",
    "TwoLevel",
    "add_bounce",
    "asymptotics",
    "audit",
    "best",
    "best_fragment",
    "bounce_copies",
    "bounce_threshold",
    "bus_bandwidth",
    "bus_factor",
    "by_hand_cost",
    "calibrate",
    "chance",
    "choice_map",
    "claims",
    "collective_cost",
    "crossover",
    "derivation",
    "derive",
    "describe",
    "device_cost",
    "distance_to_bound",
    "dominant_term",
    "elasticity",
    "explore",
    "explore_busbw",
    "explore_choices",
    "explore_costs",
    "explore_crossover",
    "explore_live",
    "explore_schedule",
    "export",
    "fit",
    "fit_bounce",
    "fragment_threshold",
    "guideline",
    "guidelines",
    "half_performance",
    "invert",
    "javascript",
    "kernel_cost",
    "list_algorithms",
    "list_collectives",
    "list_machines",
    "live_page",
    "load_machine",
    "log2_ceil",
    "log2_floor",
    "lower_bound",
    "machine_balance",
    "nccl_message_size",
    "optimal_fragment",
    "optimal_segment",
    "overlap",
    "p2p_cost",
    "pipeline_stages",
    "predict",
    "predict_band",
    "read",
    "read_goal",
    "read_messages",
    "read_rules",
    "read_trace",
    "regret",
    "roofline_rate",
    "rounds",
    "save_figure",
    "schedule",
    "seconds_at_bus_bandwidth",
    "select",
    "selected_cost",
    "staging_threshold",
    "tune",
    "verify",
    "with_rendezvous",
    "write_goal",
    "write_messages",
    "write_trace",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
