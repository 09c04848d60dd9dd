"""The page of all formulas: every algorithm of every collective under both networks, with where it is exact."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

import orrery_analytic as oa
from orrery_analytic.algebra.derivations.layout import Written, latex, write
from orrery_analytic.collectives.registry import COMPOSED, Part, find, resolve, twin
from orrery_analytic.symbols import P

HEAD = r"""# All formulas

Times in seconds, for a call that all {math}`P \ge 2` ranks enter together, until the last one leaves; on one rank every
collective takes 0. Buffers are on the host. {math}`n` is in bytes: the whole vector for allreduce, bcast, reduce, scan
and exscan; the total for reduce_scatter; one rank's block for allgather, gather, scatter and reduce_scatter_block; one
pair's block for alltoall. [Symbols and units](symbols.md) has the other letters, [Where each formula is
exact](exactness.md) the claims alone, and nodes whose ranks share network cards.

Every line is made by `oa.collective_cost(collective, algorithm, network)` as this page is built, and held against the
message schedule in exact arithmetic by the tests. Long forms are folded: a click opens them. There
{math}`\underline{\ell} = \lfloor \log_2 P \rfloor` and {math}`\overline{\ell} = \lceil \log_2 P \rceil`, pop counts the
bits of a number that are set, nodes is the number of nodes that P ranks fill, and {math}`M_1, M_2, \ldots` stand for
what occurs more than once.
"""

CALLS = {
    "A message between hosts, Hockney": oa.p2p_cost(),
    "A message between hosts, LogGP": oa.p2p_cost(oa.LogGP()),
    "Between devices, by GPUDirect RDMA": oa.p2p_cost(send="device", recv="device", transport="gdr"),
    "Between devices, staged through the host": oa.p2p_cost(send="device", recv="device", transport="staged"),
    "Between devices of a node, peer to peer": oa.p2p_cost(send="device", recv="device", transport="peer"),
    "What device buffers add to an allreduce": oa.device_cost("allreduce", "device"),
    "A kernel": oa.kernel_cost(),
}

FOLDED = 420
"""Longer forms, in letters of LaTeX, are set smaller, and closed until they are clicked, but those in `OPEN`."""
NODE = 4
"""Ranks of a node for the algorithms that know nodes."""
OPEN = ("Hockney", f"On nodes of {NODE} ranks")


def bare(cost: oa.Cost) -> oa.Cost:
    """Return a cost without the condition of an algorithm that is there for some P only: the claim says so."""
    only = {e: e.args[0].expr for term in cost.terms.values() for e in term.atoms(sp.Piecewise) if len(e.args) == 1}
    return oa.Cost({name: e.xreplace(only) for name, e in cost.terms.items()}) if only else cost


def displayed(cost: oa.Cost) -> str:
    """Return a cost as displayed LaTeX: the total, and before it what its names stand for."""
    cost = bare(cost)
    written: Written = write(cost.terms, cost.total)
    rows = [rf"{latex(symbol)} &= {{}} {latex(e)}" for symbol, e in written.others]
    total = latex(written.total)
    if not written.names and written.total == sum(cost.terms.values()):
        total = cost.latex() if len(cost.latex()) < 160 else total
    rows.append(f"T &= {{}} {total}")
    return "$$\n\\begin{aligned}\n" + " \\\\[4pt]\n".join(rows) + "\n\\end{aligned}\n$$"


def shown(title: str, claim: str, cost: oa.Cost) -> str:
    """Return a part that opens and closes: what it is, where it is exact, and the formula."""
    text = displayed(cost)
    long = len(text) >= FOLDED
    opened, size = ("" if long and title not in OPEN else " open"), ("formula long" if long else "formula")
    return f"<details{opened} class='{size}'><summary><b>{title}</b>: {claim}</summary>\n\n{text}\n\n</details>\n"


def claim(cost: oa.Cost) -> str:
    """Return where a formula is exact, without the name of the algorithm before it."""
    return cost.validity.partition(": ")[2].replace("<", "&lt;").replace(">", "&gt;")


def of_algorithm(collective: str, name: str) -> Iterator[str]:
    """Yield what the page says of an algorithm that is a formula of its own."""
    if name.startswith("two_level_"):
        network = oa.TwoLevel(ranks_per_node=NODE)
        cost = oa.collective_cost(collective, name, network)
        yield shown(f"On nodes of {NODE} ranks", claim(cost), cost)
        yield (
            "Under LogGP, or with another number of ranks on a node: "
            f'`oa.collective_cost("{collective}", "{name}", oa.LogGP(), ranks_per_node=8)`.\n'
        )
        return
    for network in (oa.Hockney(), oa.LogGP()):
        cost = oa.collective_cost(collective, name, network)
        yield shown(type(network).__name__, claim(cost), cost)
    if find(collective, name).segmented:
        cost = oa.collective_cost(collective, name, segment_bytes="symbol")
        yield shown("Hockney, segments of <i>n<sub>s</sub></i> bytes", claim(cost), cost)


def _part(part: Part) -> str:
    """Return in words what a part is given."""
    size = {1: "n", P: "P n", 1 / P: "n / P"}[part.scale]
    return f"{part.collective} of {size} bytes" + (f" (always `{part.algorithm}`)" if part.algorithm else "")


def of_parts(collective: str, name: str) -> str:
    """Return what the page says of an algorithm that calls other collectives."""
    parts = COMPOSED[resolve(collective, name)]
    free = [part for part in parts if not part.algorithm]
    named = "".join(f'"{part.collective}:binomial", ' for part in free).removesuffix(", " if len(free) > 1 else " ")
    return (
        f"Calls {' and then '.join(map(_part, parts))}, and costs what these cost together. What the library decides "
        f'again is named, `oa.collective_cost("{collective}", "{name}", parts=({named}))`, or follows from a number of '
        f'ranks, `oa.collective_cost("{collective}", "{name}", P=128)`.\n'
    )


def page() -> str:
    """Return the page, as Markdown."""
    lines = [HEAD, "\n## Messages, copies and kernels\n"]
    lines += [shown(title, cost.validity, cost) for title, cost in CALLS.items()]
    for collective in oa.list_collectives():
        lines.append(f"\n## {collective}\n")
        if twin(collective) != collective:
            same = twin(collective)
            lines.append(f"With blocks of n bytes on average, each costs as its twin in [{same}](#{same}).\n")
            for name in oa.list_algorithms(collective):
                lines.append(f"* `{name}`")
                if resolve(collective, name) in COMPOSED:
                    lines[-1] += ": " + of_parts(collective, name).strip()
            continue
        for name in oa.list_algorithms(collective):
            lines.append(f"\n### {collective} {name}\n")
            if resolve(collective, name) in COMPOSED:
                lines.append(of_parts(collective, name))
            else:
                lines += of_algorithm(collective, name)
    return "\n".join(lines) + "\n"
