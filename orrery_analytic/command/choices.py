"""`select`, `predict`, `tune`: what the library takes, what it costs, and the rules that make it better."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

import orrery_analytic as oa
from orrery_analytic.command.arguments import add_points, add_setting, add_table, numbers, options_of, verb
from orrery_analytic.command.output import free, give, table_text

__all__ = ["add_predict", "add_select", "add_tune"]


def add_select(verbs: Any) -> None:
    """Add the verb select."""
    made = verb(verbs, "select", _select, "what the library takes, and why", "collective")
    add_table(made)
    add_points(made)
    made.add_argument("--rules", default="openmpi-4.1", help="library, 5.0.3, or a rule file; openmpi-4.1 unless given")
    made.add_argument("--non-commutative", action="store_true", help="the operation of a reduction does not commute")


def _select(asked: argparse.Namespace) -> None:
    import pandas as pd

    P, n = np.array(numbers("P", asked.P)), np.array(numbers("n", asked.n, "B"))
    P, n = (a.ravel() for a in np.broadcast_arrays(P[:, None], n[None, :]))
    chosen = oa.select(asked.collective, P, n, rules=asked.rules, commutative=not asked.non_commutative)
    names = ("number", "name", "runs", "segment_bytes", "reason")
    columns = {name: np.broadcast_to(getattr(chosen, name), P.shape) for name in names}
    give(table_text(pd.DataFrame({"P": P, "n": n, **columns}), asked), asked)


def add_predict(verbs: Any) -> None:
    """Add the verb predict."""
    made = verb(verbs, "predict", _predict, "seconds, term by term", "machine", "collective")
    add_table(made)
    add_points(made)
    add_setting(made)
    made.add_argument("--algorithm", help="take this one everywhere, whatever the library takes")


def _predict(asked: argparse.Namespace) -> None:
    P, n = numbers("P", asked.P), numbers("n", asked.n, "B")
    data = oa.predict(asked.machine, asked.collective, P, n, algorithm=asked.algorithm, **options_of(asked))
    table = data.to_dataframe().reset_index()
    units = {name: f"{name} ({data[name].attrs['units']})" for name in table if "units" in data[name].attrs}
    give(table_text(table.rename(columns=units), asked), asked)
    if note := data.attrs.get("note"):
        sys.stderr.write(f"note: {note}\n")


def add_tune(verbs: Any) -> None:
    """Add the verb tune."""
    told = "the fewest rules that keep the regret under a bound"
    made = verb(verbs, "tune", _tune, told, "machine", several="collective")
    add_table(made)
    add_points(made, needed=False)
    made.add_argument("--library", default="4.1", help="whose rules: a version such as 5.0.3; 4.1 unless given")
    made.add_argument("--bound", type=float, default=1.05, help="the most regret, at least 1; 1.05 unless given")
    made.add_argument("--rules-out", help="file to write the rules to")


def _tune(asked: argparse.Namespace) -> None:
    n = None if asked.n is None else numbers("n", asked.n, "B")
    rules = None if asked.rules_out is None else free(asked.rules_out, asked.overwrite)
    found = oa.tune(asked.machine, asked.collective, numbers("P", asked.P), n, library=asked.library, bound=asked.bound)
    if rules is not None:
        found.write(rules, overwrite=asked.overwrite)
    give(table_text(found.table, asked) if asked.csv or asked.json else f"{found.report()}\n", asked)
