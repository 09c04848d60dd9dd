"""The pages that the package writes of itself: its functions by topic, symbols, keys of a machine file, columns."""

from __future__ import annotations

import inspect
from collections import defaultdict
from importlib import import_module

import orrery_analytic as oa
from orrery_analytic import errors, plots
from orrery_analytic.logs import COLUMNS
from orrery_analytic.machines import MACHINE_KEYS
from orrery_analytic.symbols import SYMBOLS
from orrery_analytic.symbols.printing import latex

TITLES = {
    "calls": "Price a call",
    "cost": "Costs",
    "collectives": "Collectives: formulas, schedules, proofs",
    "networks": "Networks",
    "schedules": "Schedules",
    "decisions": "What the library takes",
    "selection": "What would be better",
    "predict": "Numbers over P and n",
    "machines": "Machines",
    "gpu": "Device buffers",
    "kernels": "Kernels",
    "applications": "Programs made of calls",
    "algebra": "Algebra on costs",
    "logs": "Benchmark logs",
    "busbw": "algbw and busbw",
    "calibration": "From logs to parameters",
    "plots": "Figures",
    "widgets": "Explorers",
    "exports": "For papers",
    "symbols": "Symbols",
    "errors": "Errors",
}
"""The modules in the order of the site; one that is not here comes last, under its own name."""

API_HEAD = """# Functions by topic

`import orrery_analytic as oa` gives all of these as `oa.<name>`, but figures, which are `orrery_analytic.plots.<name>`,
and errors, which are `orrery_analytic.errors.<name>`. Arguments and results are in SI units, seconds and bytes, unless
a page says otherwise.
"""

SYMBOLS_HEAD = r"""# Symbols and units

The letters of the formulas, with the name that `cost(...)` and `machine.parameters` know them by. Numbers are in SI
units: seconds, bytes, bytes per second; GB is $10^9$ bytes, GiB is $2^{30}$. `oa.describe(name)` says the same in a
session.

A copy with several bands of sizes has `alpha_d2h_1`, `beta_d2h_1`, and `s_d2h_1` for the largest size of the first one,
and so on.
"""

KEYS_HEAD = """# Keys of a machine file

What `machines/*.toml` and `Machine.replace` take. A value is a text with a unit ("2.1 us", "24.3 GB/s", "0.04 ns/B"),
or a whole number where the unit is 1. The formulas know it by its symbol: a bandwidth of the file becomes seconds a
byte. [Add a machine](add-a-machine.md) shows a file.
"""

COLUMNS_HEAD = """# Columns of a log

What `oa.read` returns: a row a measured point, NaN where nothing was measured. Times are in seconds, sizes in bytes,
rates in bytes or messages per second, whatever the benchmark printed.
"""


def table(head: str, titles: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a page with one table."""
    lines = [f"| {' | '.join(cells)} |" for cells in (titles, ("---",) * len(titles), *rows)]
    return head + "\n" + "\n".join(lines) + "\n"


def by_module() -> dict[str, list[str]]:
    """Return the full names of what is public, by the module that it comes from, in the order of the site."""
    found: defaultdict[str, list[str]] = defaultdict(list, {name: [] for name in TITLES})
    for name in oa.__all__:
        found[getattr(oa, name).__module__.split(".")[1]].append(f"orrery_analytic.{name}")
    found["plots"] = [f"orrery_analytic.plots.{name}" for name in plots.__all__ if callable(getattr(plots, name))]
    found["errors"] = [f"orrery_analytic.errors.{name}" for name in errors.__all__ if name.endswith("Error")]
    return {module: names for module, names in found.items() if names}


def _directive(name: str) -> str:
    path, _, attribute = name.rpartition(".")
    thing = getattr(import_module(path), attribute)
    if not inspect.isclass(thing):
        return f".. autofunction:: {name}"
    members = "" if issubclass(thing, Exception) else "\n   :members:"
    if all(base.__module__.startswith("orrery_analytic.") for base in thing.__mro__[:-1]):
        members += "\n   :inherited-members:"
    return f".. autoclass:: {name}{members}"


def _named(names: list[str]) -> str:
    return ", ".join(f"`{name.rpartition('.')[2]}`" for name in names)


def api(module: str, names: list[str]) -> str:
    """Return the page of a module: a list of its names, and what each says of itself."""
    title = TITLES.get(module, module)
    about = (import_module(f"orrery_analytic.{module}").__doc__ or "").partition("\n\n")[0]
    listed = "\n".join(f"   {name.removeprefix('orrery_analytic.')}" for name in names)
    told = "\n\n".join(map(_directive, names))
    return (
        f"# {title}\n\n```{{eval-rst}}\n.. currentmodule:: orrery_analytic\n\n{about}\n\n"
        f".. autosummary::\n   :nosignatures:\n\n{listed}\n\n{told}\n```\n"
    )


def pages() -> dict[str, str]:
    """Return the pages by file name."""
    modules = by_module()
    contents = "\n".join(f"api/{module}" for module in modules)
    listed = "\n".join(
        f"* [{TITLES.get(module, module)}](api/{module}.md): {_named(names)}" for module, names in modules.items()
    )
    index = f"{API_HEAD}\n{listed}\n\n```{{toctree}}\n:hidden:\n\n{contents}\n```\n"
    symbols = [(f"${latex(info.symbol)}$", f"`{name}`", info.unit, info.meaning) for name, info in SYMBOLS.items()]
    keys = [
        (
            f"`{key}`",
            info.unit,
            f"`{info.symbol or '-'}`",
            info.meaning + ("" if info.required else " (may be left out)"),
        )
        for key, info in MACHINE_KEYS.items()
    ]
    columns = [
        (f"`{name}`", kind.__name__.replace("object", "text"), meaning) for name, (kind, meaning) in COLUMNS.items()
    ]
    return {
        "api.md": index,
        **{f"api/{module}.md": api(module, names) for module, names in modules.items()},
        "symbols.md": table(SYMBOLS_HEAD, ("symbol", "name", "unit", "meaning"), symbols),
        "machine-keys.md": table(KEYS_HEAD, ("key", "unit", "symbol", "meaning"), keys),
        "log-columns.md": table(COLUMNS_HEAD, ("column", "type", "what it holds"), columns),
    }
