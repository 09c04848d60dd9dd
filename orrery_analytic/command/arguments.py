"""What the verbs share of their arguments: numbers with ranges and units, networks, settings of a machine."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import orrery_analytic as oa
from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.units import to_si

__all__ = [
    "Parser", "add_figure", "add_network", "add_points", "add_setting", "add_table", "column", "named", "network_of",
    "numbers", "one", "options_of", "verb",
]  # fmt: skip

_RANGE = ".."
_MANY = "or 4..1000, which doubles and ends with the last: 4, 8, ..., 512, 1000"
_POSITIONAL = {
    "machine": f"{', '.join(oa.list_machines())}, or the path of a machine file",
    "collective": ", ".join(oa.list_collectives()),
    "algorithm": "as Open MPI calls it: ring, recursive_doubling, rabenseifner ...",
    "a": "an algorithm, such as ring",
    "b": "another one",
    "file": "a benchmark log, in any format that oa.read takes",
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, as those of the package."""

    def error(self, message: str) -> NoReturn:
        """Leave with one line and exit code 2."""
        self.exit(2, f"{self.prog}: {' '.join(message.split())} (see {self.prog} --help)\n")


def verb(
    verbs: Any, name: str, run: Callable[[argparse.Namespace], None], told: str, *positional: str, several: str = ""
) -> Any:
    """Add a verb with its positional arguments, the last of which may be `several`; return its parser."""
    made = verbs.add_parser(name, help=told, description=f"{told[0].upper()}{told[1:]}.", allow_abbrev=False)
    made.set_defaults(run=run)
    for argument in positional:
        made.add_argument(argument, help=_POSITIONAL[argument])
    if several:
        made.add_argument(several, nargs="+", help=f"one or more of: {_POSITIONAL[several]}")
    made.add_argument("--out", help="where to write to: a file; of draw a path without ending; of export a folder")
    made.add_argument("--overwrite", action="store_true", help="write over what is there")
    return made


def add_table(made: Any) -> None:
    """Let a verb print its table as CSV or JSON."""
    kind = made.add_mutually_exclusive_group()
    kind.add_argument("--csv", action="store_true", help="as CSV")
    kind.add_argument("--json", action="store_true", help="as JSON, a list of rows")


def add_points(made: Any, sizes: bool = True, needed: bool = True) -> None:
    """Let a verb take P and, with `sizes`, n."""
    made.add_argument("-P", required=True, help=f"ranks: 64, or 4,8,16, {_MANY}")
    if sizes:
        made.add_argument("-n", required=needed, help="bytes: 4096, 1MiB, or 1KiB,1MiB, or 1KiB..1GiB, as for -P")


def add_network(made: Any, names: str) -> None:
    """Let a verb take buffers and a network."""
    made.add_argument("--buffers", default="host", choices=("host", "device"), help="where the buffers are; host")
    made.add_argument("--network", default="hockney", help=f"{names}; hockney unless given")


def add_setting(made: Any) -> None:
    """Let a verb take what `predict` takes beside machine, collective and points."""
    made.add_argument("--rules", default="openmpi-4.1", help="library whose choice is taken, 5.0.3, or a rule file")
    add_network(made, "hockney, loggp, or twolevel (the machine's own nodes)")
    made.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE",
        help="another value than the machine file's: bandwidth='21 GB/s'; may be given again",
    )  # fmt: skip


def add_figure(made: Any) -> None:
    """Let a verb take what a figure takes."""
    made.add_argument("--algorithms", help="curves: ring,rabenseifner; what the library takes unless given")
    made.add_argument("--column", default="single", help="single, double, or inches; single unless given")
    made.add_argument("--font-size", type=float, default=8.0, help="points; 8 unless given")
    add_points(made)
    add_setting(made)


def one(name: str, text: str, unit: str = "") -> int:
    """Return a whole number: bytes may have a unit ("1 MiB")."""
    if text.strip().isdecimal() and len(text) < 19:
        return int(text)
    if not unit or text.strip().removeprefix("-").isdecimal():
        also = ", or sizes such as 1MiB" if unit else ""
        raise QuantityError(
            f"{name} must be whole numbers such as 64, 4,8,16 or 4..1024{also}, but {text!r} was given."
        )
    number = to_si(text, unit, name)
    if not number.is_integer():
        raise QuantityError(f"{name} must be whole bytes, but {text!r} is {number:.12g} B.")
    return int(number)


def numbers(name: str, text: str, unit: str = "") -> list[int]:
    """Return the numbers of "4,8,16", or of "4..1000": doubled from the first on, and the last one."""
    found: list[int] = []
    for part in text.split(","):
        first, dots, last = part.partition(_RANGE)
        if not dots:
            found.append(one(name, part, unit))
            continue
        value, end = one(name, first, unit), one(name, last, unit)
        if value < 1 or end < value:
            raise QuantityError(f"{name}: a range goes up from at least 1, such as 4..1024, but {part!r} was given.")
        while value < end:
            found.append(value)
            value *= 2
        found.append(end)
    return found


def network_of(name: str, machine: str | None = None) -> Any:
    """Return a network by its name; "twolevel" has the nodes of the machine."""
    kinds: dict[str, Callable[[], Any]] = {"hockney": oa.Hockney, "loggp": oa.LogGP}
    if machine is not None:
        kinds["twolevel"] = lambda: oa.TwoLevel.of(oa.load_machine(machine))
    return kinds[choose("network", name, kinds)]()


def _pairs(settings: Sequence[str]) -> dict[str, Any]:
    """Return key=value settings as a mapping."""
    from orrery_analytic.machines import MACHINE_KEYS

    found = {}
    for item in settings:
        key, equals, value = item.partition("=")
        if not equals:
            raise QuantityError(f"--set takes key=value, such as bandwidth='21 GB/s', but {item!r} was given.")
        count = MACHINE_KEYS[choose("key of a machine for --set", key, MACHINE_KEYS)].unit == "1"
        found[key] = one(key, value) if count else value
    return found


def options_of(asked: argparse.Namespace) -> dict[str, Any]:
    """Return the options of `predict` that were given."""
    return {
        "rules": asked.rules, "buffers": asked.buffers, "network": network_of(asked.network, asked.machine),
        **_pairs(asked.set),
    }  # fmt: skip


def named(text: str | None) -> list[str] | None:
    """Return the names of "ring,rabenseifner"; None without any."""
    return text.split(",") if text else None


def column(text: str) -> Any:
    """Return a column of a paper: its name, or inches."""
    try:
        return float(text)
    except ValueError:
        return text
