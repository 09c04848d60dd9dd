"""`draw`, `derive`, `crossover`, `export`: what a paper needs."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import orrery_analytic as oa
from orrery_analytic.command.arguments import (
    add_figure,
    add_network,
    add_points,
    add_setting,
    add_table,
    column,
    named,
    network_of,
    numbers,
    one,
    options_of,
    verb,
)
from orrery_analytic.command.output import free, give, table_text

__all__ = ["add_crossover", "add_derive", "add_draw", "add_export"]


def add_draw(verbs: Any) -> None:
    """Add the verb draw."""
    add_figure(verb(verbs, "draw", _draw, "a figure as PDF and PGF, over P or n", "machine", "collective"))


def _draw(asked: argparse.Namespace) -> None:
    from orrery_analytic.exports import paper_curves, save_figure

    stem = asked.out or "figure"
    free(f"{stem}.pdf", asked.overwrite)
    drawn = paper_curves(
        asked.machine, asked.collective, numbers("P", asked.P), numbers("n", asked.n, "B"), named(asked.algorithms),
        column(asked.column), font_size=asked.font_size, **options_of(asked),
    )  # fmt: skip
    for path in save_figure(drawn, stem, overwrite=asked.overwrite, font_size=asked.font_size):
        sys.stdout.write(f"{path}\n")


def add_derive(verbs: Any) -> None:
    """Add the verb derive."""
    made = verb(verbs, "derive", _derive, "a formula and how it comes about", "collective", "algorithm")
    add_network(made, "hockney or loggp")
    made.add_argument("--segment-bytes", help="bytes such as 64KiB, or symbol; one segment unless given")
    made.add_argument("--parts", help="of a composed algorithm: reduce:binomial,bcast:binomial")
    made.add_argument("-P", help="of a composed algorithm: ranks on which the library decides its parts")
    kind = made.add_mutually_exclusive_group()
    kind.add_argument("--latex", action="store_true", help="the body, for a paper")
    kind.add_argument("--document", action="store_true", help="a document that pdflatex compiles")
    kind.add_argument("--bibtex", action="store_true", help="the sources")


def _derive(asked: argparse.Namespace) -> None:
    options: dict[str, Any] = {"buffers": asked.buffers}
    if asked.segment_bytes is not None:
        symbol = asked.segment_bytes == "symbol"
        options["segment_bytes"] = "symbol" if symbol else one("--segment-bytes", asked.segment_bytes, "B")
    if asked.parts is not None:
        options["parts"] = tuple(asked.parts.split(","))
    if asked.P is not None:
        options["P"] = one("P", asked.P)
    story = oa.derivation(asked.collective, asked.algorithm, network_of(asked.network), **options)
    if asked.bibtex:
        give(story.bibtex, asked)
    elif asked.latex or asked.document:
        give(f"{story.latex(document=asked.document)}\n", asked)
    else:
        give(f"{story!r}\n", asked)


def add_crossover(verbs: Any) -> None:
    """Add the verb crossover."""
    told = "which of two algorithms is cheaper from which size on, as LaTeX, CSV or JSON"
    made = verb(verbs, "crossover", _crossover, told, "machine", "collective", "a", "b")
    add_table(made)
    add_points(made, sizes=False)
    add_setting(made)


def _crossover(asked: argparse.Namespace) -> None:
    from orrery_analytic.exports.provenance import setting_told
    from orrery_analytic.exports.statement import crossover_setting, crossover_statement, crossover_table

    ranks, names = numbers("P", asked.P), (asked.a, asked.b)
    crossing, setting = crossover_setting(asked.machine, asked.collective, names, **options_of(asked))
    if asked.csv or asked.json:
        give(table_text(crossover_table(crossing, names, setting.machine, ranks), asked), asked)
        return
    machine = setting.machine if asked.set else asked.machine
    give(f"{crossover_statement(crossing, names, machine, ranks, setting_told(setting))}\n", asked)


def add_export(verbs: Any) -> None:
    """Add the verb export."""
    told = "figure, data, formulas and derivations in one folder"
    add_figure(verb(verbs, "export", _export, told, "machine", "collective"))


def _export(asked: argparse.Namespace) -> None:
    made = oa.export(
        asked.machine, asked.collective, numbers("P", asked.P), numbers("n", asked.n, "B"),
        asked.out or asked.collective, algorithms=named(asked.algorithms), column=column(asked.column),
        font_size=asked.font_size, overwrite=asked.overwrite, **options_of(asked),
    )  # fmt: skip
    sys.stdout.write(f"{made!r}\n")
