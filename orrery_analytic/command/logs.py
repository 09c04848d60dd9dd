"""`read`, `fit`: benchmark logs as tables, and the parameters that they hold."""

from __future__ import annotations

import argparse
from typing import Any

import orrery_analytic as oa
from orrery_analytic.command.arguments import add_table, verb
from orrery_analytic.command.output import give, table_text

__all__ = ["add_fit", "add_read"]


def add_read(verbs: Any) -> None:
    """Add the verb read."""
    add_table(verb(verbs, "read", _read, "a benchmark log as a table", "file"))


def _read(asked: argparse.Namespace) -> None:
    give(table_text(oa.read(asked.file).dropna(axis="columns", how="all"), asked), asked)


def add_fit(verbs: Any) -> None:
    """Add the verb fit."""
    made = verb(verbs, "fit", _fit, "parameters from benchmark logs", several="file")
    add_table(made)
    made.add_argument("--model", help="hockney, loggp ...; what the log is of decides unless given")


def _fit(asked: argparse.Namespace) -> None:
    import pandas as pd

    from orrery_analytic.calibration import fit

    tables = [oa.read(file) for file in asked.file]
    found = fit(tables[0] if len(tables) == 1 else tables, model=asked.model)
    if not (asked.csv or asked.json):
        give(f"{found.report()}\n", asked)
        return
    rows = [(name, value, found.stderr.get(name), found.units.get(name)) for name, value in found.parameters.items()]
    give(table_text(pd.DataFrame(rows, columns=["parameter", "value", "stderr", "unit"]), asked), asked)
