"""`read`, `fit`: benchmark logs as tables, and the parameters that they hold."""

from __future__ import annotations

import argparse
import math
import re
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orrery_analytic as oa
from orrery_analytic.command.arguments import add_table, one, verb
from orrery_analytic.command.output import give, table_text
from orrery_analytic.errors import OrreryError, QuantityError, choose

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["add_fit", "add_read"]

_OPTIONS = ("collective", "algorithm", "rules", "link")


def add_read(verbs: Any) -> None:
    """Add the verb read."""
    add_table(verb(verbs, "read", _read, "a benchmark log as a table", "file"))


def _read(asked: argparse.Namespace) -> None:
    give(table_text(oa.read(asked.file).dropna(axis="columns", how="all"), asked), asked)


def add_fit(verbs: Any) -> None:
    """Add the verb fit."""
    made = verb(verbs, "fit", _fit, "parameters from benchmark logs", several="file")
    add_table(made)
    made.add_argument("--model", help="hockney, loggp, collective ...; what the log is of decides unless given")
    made.add_argument("--collective", help="of model collective: what was measured, where the log does not say")
    made.add_argument("--algorithm", help="of model collective: which one ran")
    made.add_argument("--rules", help="of model collective: library whose choice ran, openmpi-4.1, or a rule file")
    made.add_argument("--ranks", help="of model collective: how many took part, where the log does not say")
    made.add_argument("--link", help="where messages went: between (nodes), inside (a node), peer (two GPUs)")
    made.add_argument(
        "--where", action="append", default=[], metavar="COLUMN=VALUE",
        help="take only these rows: in_place=False; may be given again; read shows the columns",
    )  # fmt: skip
    made.add_argument("-n", help="take only these sizes: 8KiB..4MiB, or 8KiB.. for all from there on")
    made.add_argument("--to-machine", metavar="FILE", help="write a machine file, named as the file: here.toml")
    made.add_argument("--base", help="of --to-machine: the machine whose values stand in for what was not measured")


def _fit(asked: argparse.Namespace) -> None:
    import pandas as pd

    from orrery_analytic.calibration import fit

    options = {name: value for name in _OPTIONS if (value := getattr(asked, name)) is not None}
    if asked.ranks is not None:
        options["ranks"] = one("--ranks", asked.ranks)
    if (asked.base is None) != (asked.to_machine is None):
        raise QuantityError("--to-machine FILE and --base NAME go together: no log has all that a machine file needs.")
    try:
        tables = [_rows(oa.read(file), asked.where, asked.n) for file in asked.file]
        found = fit(tables[0] if len(tables) == 1 else tables, model=asked.model, **options)
        if asked.to_machine is not None:
            _machine(found, asked)
    except OrreryError as error:
        raise type(error)(_said(str(error))) from None
    if not (asked.csv or asked.json):
        give(f"{_said(found.report())}\n", asked)
        return
    rows = [(name, value, found.stderr.get(name), found.units.get(name)) for name, value in found.parameters.items()]
    give(table_text(pd.DataFrame(rows, columns=["parameter", "value", "stderr", "unit"]), asked), asked)


def _machine(found: Any, asked: argparse.Namespace) -> None:
    """Write the machine file, and say on the standard error what is to be known of it."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found.to_machine(Path(asked.to_machine).stem, base=asked.base, path=asked.to_machine, overwrite=asked.overwrite)
    for warning in told:
        sys.stderr.write(f"orrery_analytic: {_said(str(warning.message))}\n")


def _rows(table: pd.DataFrame, wanted: list[str], sizes: str | None) -> pd.DataFrame:
    """Return the rows of a table in which columns have the values of column=value, and n is in a range."""
    for item in wanted:
        column, equals, value = item.partition("=")
        if not equals:
            raise QuantityError(f"--where takes column=value, such as in_place=False, but {item!r} was given.")
        has = table[choose("column for --where", column, [str(name) for name in table.columns])].map(_plain)
        if not (has == value).any():
            held = ", ".join(has.drop_duplicates().head(6))
            raise QuantityError(f"no row has {item}. Its column {column} holds {held}.")
        table = table[has == value]
    if sizes is not None:
        first, dots, last = sizes.partition("..")
        low, high = one("n", first, "B"), one("n", last, "B") if last else math.inf
        table = table[table["n"].between(low, high if dots else low)]
        if not len(table):
            raise QuantityError(f"no row has a size n in {sizes}.")
    return table


def _plain(value: Any) -> str:
    """Return a value as it is asked for: 4 for 4.0."""
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _said(text: str) -> str:
    """Return a text with what it advises in Python as options of the command line."""
    text = re.sub(r"table\[table\['(\w+)'\] == '?(.*?)'?\]", r"--where \1=\2", text)
    text = re.sub(
        r"Take the piece of .*fit\.piece\((\d+)\) above .*",
        r"-n takes the sizes of the messages that are sent: -n \1.. for the largest.",
        text,
    )
    text = text.replace(", or cost=", "")
    text = re.sub(r'\b(model|collective|algorithm|rules|ranks|link|base)="(\S+?)"', r"--\1 \2", text)
    return re.sub(r"(?<![\w-])(collective|algorithm|rules|ranks|link|base)=(?=\W)", r"--\1", text)
