"""`selected_cost`: the library's choice as a formula, piecewise in n at a given P, a table of its rules for any P."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from orrery_analytic.calls import device_cost
from orrery_analytic.decisions import RuleFile, list_collectives, resolve, rule_set
from orrery_analytic.decisions.fixed import Rules
from orrery_analytic.decisions.whole import LARGEST_SIZE, one, truth
from orrery_analytic.errors import QuantityError, choose
from orrery_analytic.gpu import buffer_places
from orrery_analytic.networks import Hockney, Network
from orrery_analytic.selection.breakpoints import decided
from orrery_analytic.selection.plans import plan_cost
from orrery_analytic.selection.rule_table import rule_table
from orrery_analytic.selection.selected import NO_FORMULA, Piece, SelectedCost
from orrery_analytic.selection.setting import answering, check_network

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["selected_cost"]


def selected_cost(
    collective: str,
    rules: Rules = "openmpi-4.1",
    P: int | None = None,
    buffers: str | tuple[str, str] = "host",
    network: Network = Hockney(),  # noqa: B008 - frozen
    transport: str | None = None,
    staging: str = "printed",
    itemsize: int = 4,
    commutative: bool = True,
    bands: Mapping[str, int] | None = None,
) -> SelectedCost | pd.DataFrame:
    r"""Return what a collective costs with the algorithm that the library takes: :math:`T(n) = T_i(n)` on piece i.

    Parameters
    ----------
    collective : str
        One of `list_collectives`.
    rules : str or RuleFile
        The library whose choice is taken: "openmpi-4.1", "openmpi-4.0", a version such as "5.0.3", or a rule file.
    P : int, optional
        Number of ranks. Without it a table of the library's own rules is returned, for every P.
    buffers, network, transport, staging, bands
        As in `collective_cost`.
    itemsize : int
        Bytes of an element: the library looks at the number of elements as well.
    commutative : bool
        Whether the reduction commutes.

    Returns
    -------
    SelectedCost
        With a number for P: a `Cost` whose terms and total are Piecewise in n, in seconds, with run-time substitutions
        applied and the parts of composed algorithms decided. It takes numbers for n and for the symbols of the network.
    pandas.DataFrame
        Without: one row a rule, in the order in which the library reads them, with columns P and n (where the rule
        answers), algorithm, runs (what runs in its place, and where) and formula (SymPy, in seconds).

    Raises
    ------
    UnknownNameError
        For a name that is not there.
    QuantityError
        For numbers out of range, and for a rule file without P.

    Notes
    -----
    Pieces begin at whole n. Where each of them is exact says `validity`; the decision itself is exact.
    """
    choose("collective", collective, list_collectives())
    source = resolve(rules)
    check_network(network)
    one("itemsize", itemsize, 1)
    options: dict[str, Any] = {
        "buffers": buffer_places(buffers), "transport": transport, "staging": staging, "library": answering(source),
    }  # fmt: skip
    device_cost(collective, bands=bands, **options)  # refuses what is wrong
    sizes = tuple((bands or {}).items())
    if P is None:
        if isinstance(source, RuleFile):
            raise QuantityError(f"{source.name} is a rule file: give a number of ranks, P=64. `table` lists its rules.")
        return rule_table(
            collective, rule_set(source), network, truth("commutative", commutative), bands=sizes, **options
        )
    ranks, pieces = one("P", P, 1, LARGEST_SIZE), []
    for start, stop, chosen, plan in decided(collective, ranks, source, itemsize, commutative):
        cost = plan_cost(collective, plan, network, bands=sizes, **options)
        pieces.append(Piece(start, stop, chosen, plan.described, (NO_FORMULA if cost is None else cost).at(P=ranks)))
    name = source.name if isinstance(source, RuleFile) else source
    return SelectedCost.of(pieces, f"{collective} on {ranks} rank{'s' * (ranks > 1)}, as {name} decides")
