"""The same verbs in a shell: ``python -m orrery_analytic select allreduce -P 64 -n 1MiB``.

Tables are aligned text, or CSV or JSON; what is wrong is one line on the standard error, and exit code 2.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

import orrery_analytic as oa
from orrery_analytic.errors import OrreryError, QuantityError, choose
from orrery_analytic.units import to_si

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["main"]

_RANGE = ".."


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, as those of the package."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {' '.join(message.split())} (see {self.prog} --help)\n")


def _one(name: str, text: str, unit: str) -> int:
    """Return a whole number: bytes may have a unit ("1 MiB")."""
    if text.strip().isdecimal() and len(text) < 19:
        return int(text)
    if not unit:
        raise QuantityError(f"{name} must be whole numbers such as 64, 4,8,16 or 4..1024, but {text!r} was given.")
    return round(to_si(text, unit, name))


def _numbers(name: str, text: str, unit: str = "") -> list[int]:
    """Return the numbers of "4,8,16", or of "4..1024", which doubles."""
    found: list[int] = []
    for part in text.split(","):
        first, dots, last = part.partition(_RANGE)
        if not dots:
            found.append(_one(name, part, unit))
            continue
        value, end = _one(name, first, unit), _one(name, last, unit)
        if value < 1 or end < value:
            raise QuantityError(f"{name}: a range goes up from at least 1, such as 4..1024, but {part!r} was given.")
        while value <= end:
            found.append(value)
            value *= 2
    return found


def _network(name: str, machine: str | None = None) -> Any:
    """Return a network by its name; "twolevel" has the nodes of the machine."""
    kinds: dict[str, Callable[[], Any]] = {"hockney": oa.Hockney, "loggp": oa.LogGP}
    if machine is not None:
        kinds["twolevel"] = lambda: oa.TwoLevel.of(oa.load_machine(machine))
    return kinds[choose("network", name, kinds)]()


def _pairs(settings: Sequence[str]) -> dict[str, str]:
    """Return key=value settings as a mapping."""
    from orrery_analytic.machines import MACHINE_KEYS

    found = {}
    for item in settings:
        key, equals, value = item.partition("=")
        if not equals:
            raise QuantityError(f"--set takes key=value, such as bandwidth='21 GB/s', but {item!r} was given.")
        found[choose("key of a machine for --set", key, MACHINE_KEYS)] = value
    return found


def _table(table: pd.DataFrame, asked: argparse.Namespace) -> str:
    if asked.csv:
        return str(table.to_csv(index=False, lineterminator="\n"))
    if asked.json:
        return f"{table.to_json(orient='records', indent=1)}\n"
    import pandas as pd

    with pd.option_context("display.float_format", "{:.6g}".format):
        return f"{table.to_string(index=False)}\n"


def _give(text: str, asked: argparse.Namespace) -> None:
    """Print a result, or write it to the file that was named."""
    if asked.out is None:
        sys.stdout.write(text)
        return
    from orrery_analytic.exports.files import check_free, folder_of, write_all

    path = Path(asked.out)
    folder_of(path.parent)
    check_free([path], asked.overwrite)
    write_all({path: text})


def _options(asked: argparse.Namespace) -> dict[str, Any]:
    return {
        "rules": asked.rules, "buffers": asked.buffers, "network": _network(asked.network, asked.machine),
        **_pairs(asked.set),
    }  # fmt: skip


def _select(asked: argparse.Namespace) -> None:
    import pandas as pd

    P, n = np.array(_numbers("P", asked.P)), np.array(_numbers("n", asked.n, "B"))
    P, n = (a.ravel() for a in np.broadcast_arrays(P[:, None], n[None, :]))
    chosen = oa.select(asked.collective, P, n, rules=asked.rules, commutative=not asked.non_commutative)
    names = ("number", "name", "runs", "segment_bytes", "reason")
    columns = {name: np.broadcast_to(getattr(chosen, name), P.shape) for name in names}
    _give(_table(pd.DataFrame({"P": P, "n": n, **columns}), asked), asked)


def _predict(asked: argparse.Namespace) -> None:
    P, n = _numbers("P", asked.P), _numbers("n", asked.n, "B")
    data = oa.predict(asked.machine, asked.collective, P, n, algorithm=asked.algorithm, **_options(asked))
    table = data.to_dataframe().reset_index()
    units = {name: f"{name} ({data[name].attrs['units']})" for name in table if "units" in data[name].attrs}
    _give(_table(table.rename(columns=units), asked), asked)


def _read(asked: argparse.Namespace) -> None:
    _give(_table(oa.read(asked.file).dropna(axis="columns", how="all"), asked), asked)


def _fit(asked: argparse.Namespace) -> None:
    import pandas as pd

    from orrery_analytic.calibration import fit

    tables = [oa.read(file) for file in asked.file]
    found = fit(tables[0] if len(tables) == 1 else tables, model=asked.model)
    if not (asked.csv or asked.json):
        _give(f"{found.report()}\n", asked)
        return
    rows = [(name, value, found.stderr.get(name), found.units.get(name)) for name, value in found.parameters.items()]
    _give(_table(pd.DataFrame(rows, columns=["parameter", "value", "stderr", "unit"]), asked), asked)


def _tune(asked: argparse.Namespace) -> None:
    n = None if asked.n is None else _numbers("n", asked.n, "B")
    found = oa.tune(asked.machine, asked.collective, _numbers("P", asked.P), n, bound=asked.bound)
    if asked.rules_out is not None:
        from orrery_analytic.exports.files import check_free

        check_free([Path(asked.rules_out)], asked.overwrite)
        found.write(asked.rules_out)
    _give(_table(found.table, asked) if asked.csv or asked.json else f"{found.report()}\n", asked)


def _names(asked: argparse.Namespace) -> list[str] | None:
    return asked.algorithms.split(",") if asked.algorithms else None


def _draw(asked: argparse.Namespace) -> None:
    from orrery_analytic.exports import paper_curves, save_figure

    P, n = _numbers("P", asked.P), _numbers("n", asked.n, "B")
    drawn = paper_curves(
        asked.machine, asked.collective, P, n, _names(asked), _column(asked.column), font_size=asked.font_size,
        **_options(asked),
    )  # fmt: skip
    for path in save_figure(drawn, asked.out or "figure", overwrite=asked.overwrite, font_size=asked.font_size):
        sys.stdout.write(f"{path}\n")


def _derive(asked: argparse.Namespace) -> None:
    options: dict[str, Any] = {"buffers": asked.buffers}
    if asked.segment_bytes is not None:
        symbol = asked.segment_bytes == "symbol"
        options["segment_bytes"] = "symbol" if symbol else _one("--segment-bytes", asked.segment_bytes, "B")
    if asked.parts is not None:
        options["parts"] = tuple(asked.parts.split(","))
    if asked.P is not None:
        options["P"] = _one("P", asked.P, "")
    story = oa.derivation(asked.collective, asked.algorithm, _network(asked.network), **options)
    if asked.bibtex:
        _give(story.bibtex, asked)
    elif asked.latex or asked.document:
        _give(f"{story.latex(document=asked.document)}\n", asked)
    else:
        _give(f"{story!r}\n", asked)


def _crossover(asked: argparse.Namespace) -> None:
    from orrery_analytic.exports.statement import crossover_setting, crossover_statement, crossover_table

    ranks, names = _numbers("P", asked.P), (asked.a, asked.b)
    crossing, machine = crossover_setting(asked.machine, asked.collective, names, **_options(asked))
    if asked.csv or asked.json:
        _give(_table(crossover_table(crossing, names, machine, ranks), asked), asked)
    else:
        _give(f"{crossover_statement(crossing, names, machine if asked.set else asked.machine, ranks)}\n", asked)


def _export(asked: argparse.Namespace) -> None:
    P, n = _numbers("P", asked.P), _numbers("n", asked.n, "B")
    made = oa.export(
        asked.machine, asked.collective, P, n, asked.out or asked.collective, algorithms=_names(asked),
        column=_column(asked.column), font_size=asked.font_size, overwrite=asked.overwrite, **_options(asked),
    )  # fmt: skip
    sys.stdout.write(f"{made!r}\n")


def _column(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _parser() -> argparse.ArgumentParser:
    parser = _Parser("python -m orrery_analytic", description="What a GPU-aware MPI call costs.", allow_abbrev=False)
    verbs = parser.add_subparsers(metavar="verb", required=True)

    def verb(name: str, run: Callable[[argparse.Namespace], None], told: str, *positional: str) -> Any:
        made = verbs.add_parser(name, help=told, description=told, allow_abbrev=False)
        made.set_defaults(run=run)
        for argument in positional:
            made.add_argument(argument)
        made.add_argument("--out", help="file, or folder of export, to write to")
        made.add_argument("--overwrite", action="store_true", help="write over what is there")
        return made

    def tabled(made: Any) -> Any:
        kind = made.add_mutually_exclusive_group()
        kind.add_argument("--csv", action="store_true")
        kind.add_argument("--json", action="store_true")
        return made

    def ranks(made: Any) -> Any:
        made.add_argument("-P", required=True, help="ranks: 64, or 4,8,16, or 4..1024, which doubles")
        return made

    def points(made: Any, sizes: bool = True) -> Any:
        ranks(made)
        made.add_argument("-n", required=sizes, help="bytes: 1MiB, or 1KiB,1MiB, or 1KiB..1GiB, which doubles")
        return made

    def setting(made: Any, added: Any = points) -> Any:
        made.add_argument("--rules", default="openmpi-4.1", help="library whose choice is taken, or a rule file")
        made.add_argument("--buffers", default="host", choices=("host", "device"))
        made.add_argument("--network", default="hockney", help="hockney, loggp or twolevel")
        made.add_argument(
            "--set", action="append", default=[], metavar="KEY=VALUE", help="another value than the file's"
        )
        return added(made)

    def figure(made: Any) -> Any:
        made.add_argument("--algorithms", help="curves: ring,rabenseifner; what the library takes unless given")
        made.add_argument("--column", default="single", help="single, double, or inches")
        made.add_argument("--font-size", type=float, default=8.0, help="points")
        return setting(made)

    made = tabled(points(verb("select", _select, "what the library takes, and why", "collective")))
    made.add_argument("--rules", default="openmpi-4.1")
    made.add_argument("--non-commutative", action="store_true")
    made = tabled(setting(verb("predict", _predict, "seconds, term by term", "machine", "collective")))
    made.add_argument("--algorithm")
    tabled(verb("read", _read, "a benchmark log as a table", "file"))
    made = tabled(verb("fit", _fit, "parameters from benchmark logs"))
    made.add_argument("file", nargs="+")
    made.add_argument("--model")
    made = tabled(points(verb("tune", _tune, "the fewest rules that keep the regret under a bound", "machine"), False))
    made.add_argument("collective", nargs="+")
    made.add_argument("--bound", type=float, default=1.05)
    made.add_argument("--rules-out", help="file to write the rules to")
    figure(verb("draw", _draw, "a figure as PDF and PGF", "machine", "collective"))
    made = verb("derive", _derive, "a formula and how it comes about", "collective", "algorithm")
    made.add_argument("--network", default="hockney", help="hockney or loggp")
    made.add_argument("--buffers", default="host", choices=("host", "device"))
    made.add_argument("--segment-bytes", help="bytes, or symbol")
    made.add_argument("--parts", help="of a composed algorithm: reduce:binomial,bcast:binomial")
    made.add_argument("-P", help="of a composed algorithm: ranks on which the library decides its parts")
    kind = made.add_mutually_exclusive_group()
    kind.add_argument("--latex", action="store_true", help="the body, for a paper")
    kind.add_argument("--document", action="store_true", help="a document that pdflatex compiles")
    kind.add_argument("--bibtex", action="store_true", help="the sources")
    told = "which of two algorithms is cheaper from which size on, as LaTeX, CSV or JSON"
    made = tabled(verb("crossover", _crossover, told, "machine", "collective", "a", "b"))
    setting(made, ranks)
    figure(verb("export", _export, "figure, data, formulas and derivations in one folder", "machine", "collective"))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; return the exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the command line unless given.
    """
    asked = _parser().parse_args(arguments)
    try:
        asked.run(asked)
    except OrreryError as error:
        sys.stderr.write(f"orrery_analytic: {' '.join(str(error).split())}\n")
        return 2
    except BrokenPipeError:  # | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
