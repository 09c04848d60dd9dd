"""`choice_map`: the library's choice, the model's and the regret over P and n, with the borders between regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from orrery_analytic.collectives.registry import list_algorithms
from orrery_analytic.decisions import RuleFile
from orrery_analytic.decisions.names import SELF
from orrery_analytic.decisions.whole import LARGEST_COUNT, LARGEST_SIZE, whole
from orrery_analytic.errors import choose
from orrery_analytic.selection.best import Search, _Regret, grid, regret_dataset
from orrery_analytic.selection.borders import Borders, stretches
from orrery_analytic.selection.candidates import FANS, RADICES, SEGMENTS
from orrery_analytic.selection.setting import Prices, axis

if TYPE_CHECKING:
    import xarray as xr

    from orrery_analytic.machines import Machine

__all__ = ["CHOICES", "ChoiceMap", "choice_map"]

CHOICES = ("library", "runs", "best")
"""What a map knows the borders of: what the library takes, what then runs, and what costs least."""

_PRECISION = 1e-3


@dataclass(frozen=True, repr=False)
class ChoiceMap:
    """Choices over P and n.

    Attributes
    ----------
    data : xarray.Dataset
        What `regret` returns.
    names : list of str
        The algorithms of the collective, in the order of the library's numbers, and "self" for one rank.
    """

    data: xr.Dataset
    search: Search
    found: _Regret

    @cached_property
    def names(self) -> list[str]:
        """Algorithms of the collective, and last "self": what numbers in `regions` and `grid` are places in."""
        return [*list_algorithms(self.search.setting.collective), SELF[1]]

    @property
    def library(self) -> str:
        """Whose choice it is, for people: "Open MPI 4.1", or the name of a rule file."""
        rules = str(self.data.attrs["rules"])
        own = isinstance(self.search.setting.rules, RuleFile)
        return rules if own else f"Open MPI {rules.removeprefix('openmpi-')}"

    def grid(self, which: str) -> np.ndarray:
        """Return the choice at every point, over P and n, as places in `names`; -1 where nothing has a formula."""
        return self._codes(choose("choice", which, CHOICES), self.found)

    def regions(self, which: str) -> Borders:
        """Return for each P the stretches of n on which one algorithm is chosen, as places in `names`.

        Borders are refined between the points of the map, to a thousandth of their size. Those of the library, which
        does not depend on the machine, `decided` gives exactly, and `borders` those of the best.

        Parameters
        ----------
        which : str
            One of `CHOICES`.
        """
        choose("choice", which, CHOICES)
        ranks, sizes = (self.data[name].to_numpy().astype(np.int64) for name in ("P", "n"))
        return stretches(lambda P, n: self._choice(which, P, n), ranks, sizes, self.grid(which), _PRECISION)

    def _choice(self, which: str, P: np.ndarray, n: np.ndarray) -> np.ndarray:
        prices = Prices(self.search.setting, P, n)
        if which == "best":
            return self._codes(which, self.search.regret(prices))
        chosen, index, plans = self.search.setting.plans(P, n)
        return self._codes_of(chosen) if which == "library" else self._codes_of([p.algorithm for p in plans])[index]

    def _codes(self, which: str, found: _Regret) -> np.ndarray:
        if which == "library":
            return self._codes_of(found.chosen)
        plans, place = (found.found, found.index) if which == "runs" else (found.plans, found.place)
        return np.asarray(np.append(self._codes_of([plan.algorithm for plan in plans]), -1)[place])

    def _codes_of(self, names: Any) -> np.ndarray:
        given = np.asarray(names)
        place = {name: i for i, name in enumerate(self.names)}
        return np.array([place.get(name, -1) for name in given.ravel().tolist()], dtype=int).reshape(given.shape)

    def __repr__(self) -> str:
        about, ranks, sizes = self.data.attrs, self.data["P"].to_numpy(), self.data["n"].to_numpy()
        return (
            f"<ChoiceMap: {about['collective']}, {about['rules']} and the model of {about['machine']}, "
            f"P {ranks.min()} to {ranks.max()}, n {sizes.min()} to {sizes.max()} bytes>"
        )


def choice_map(
    machine: Machine | str,
    collective: str,
    P: Any = None,
    n: Any = None,
    candidates: Sequence[str] | None = None,
    segment_bytes: Sequence[int] = SEGMENTS,
    fan: Sequence[int] = FANS,
    radix: Sequence[int] = RADICES,
    **options: Any,
) -> ChoiceMap:
    """Return the library's choice, the model's and the regret over P and n, for `plots.choice_map` to draw.

    Parameters
    ----------
    machine, collective, candidates, segment_bytes, fan, radix, **options
        As in `best`.
    P : 1-D array, optional
        Numbers of ranks; 200 from 2 to 4096 unless given.
    n : 1-D array, optional
        Bytes, or sizes with units; 200 sizes from 1 B to 1 GiB unless given.

    Returns
    -------
    ChoiceMap
        Its `data` is what `regret` returns; `regions` gives the borders.

    Raises
    ------
    UnknownNameError, QuantityError
        As `best`.
    """
    search = Search.of(machine, collective, candidates, segment_bytes, fan, radix, **options)
    ranks = _spread(2, 4096) if P is None else np.unique(whole("P", axis("P", P), 1, LARGEST_SIZE))
    sizes = _spread(1, 2**30) if n is None else np.unique(whole("n", axis("n", n), 0, LARGEST_COUNT))
    _, _, prices = grid(search.setting, ranks, sizes)
    found = search.regret(prices)
    return ChoiceMap(regret_dataset(search, ranks, sizes, found), search, found)


def _spread(low: int, high: int, number: int = 200) -> np.ndarray:
    """Return whole numbers from low to high, as evenly spread over the powers of two as whole numbers can be.

    The powers of two themselves are among them: what some algorithms need.
    """
    powers = 2 ** np.arange(int(np.log2(low)), int(np.log2(high)) + 1, dtype=np.int64)
    tried = number
    while True:
        spread = np.union1d(np.round(np.geomspace(low, high, tried)).astype(np.int64), powers)
        if spread.size >= number:
            break
        tried += number - spread.size
    others = np.setdiff1d(spread, powers)
    return np.union1d(powers, others[np.linspace(0, others.size - 1, number - powers.size).astype(int)])
