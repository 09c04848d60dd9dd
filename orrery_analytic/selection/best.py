"""`best`: the model's own choice; `regret`: how many times slower the library's choice is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from orrery_analytic.collectives.registry import COMPOSED, resolve
from orrery_analytic.decisions.whole import LARGEST_SIZE, whole
from orrery_analytic.selection.candidates import FANS, RADICES, SEGMENTS, Told, candidates
from orrery_analytic.selection.plans import Plan
from orrery_analytic.selection.setting import Prices, Setting, axis

if TYPE_CHECKING:
    import xarray as xr

    from orrery_analytic.machines import Machine

__all__ = ["Search", "best", "regret"]

_ALIKE = 1 + 1e-12
"""Times that differ by less are the same: formulas that are equal may round differently."""

_BOUNDS = (
    "seconds are those of the formulas: where one is an upper bound (for some algorithms, P that are no powers of two) "
    "it is taken as it is"
)


@dataclass(frozen=True)
class Search:
    """A setting and the candidates among which the best is sought."""

    setting: Setting
    told: tuple[Plan, ...]

    @classmethod
    def of(
        cls,
        machine: Machine | str,
        collective: str,
        candidates_: Sequence[str] | None = None,
        segment_bytes: Sequence[int] = SEGMENTS,
        fan: Sequence[int] = FANS,
        radix: Sequence[int] = RADICES,
        **options: Any,
    ) -> Search:
        """Return the search with the options of `best`."""
        setting = Setting.of(machine, collective, **options)
        found = candidates(collective, candidates_, segment_bytes, fan, radix, setting.commutative)
        return cls(setting, tuple(found))

    @property
    def left_out(self) -> str:
        """Which candidates cannot be compared, in words; "" if all can."""
        setting = self.setting
        simple = (p for p in self.told if resolve(setting.collective, p.algorithm) not in COMPOSED)
        names = dict.fromkeys(plan.algorithm for plan in simple if setting.formula(plan) is None)
        network = type(setting.network).__name__
        return f"not compared, for want of a closed form on {network}: {', '.join(names)}" if names else ""

    def best(self, prices: Prices) -> tuple[np.ndarray, np.ndarray, list[Plan]]:
        """Return for each point the least seconds, and the place of what runs then in a list of plans.

        Of candidates that cost the same the first is taken that runs itself: where the library would run another one
        in its place, that one is named. Place -1 (and NaN seconds) is where no candidate has a formula.
        """
        told = Told(prices, self.told)
        least = np.fmin.reduce(told.seconds)
        with np.errstate(invalid="ignore"):
            good = told.seconds <= least * _ALIKE
        own = good & ~told.substituted
        first = np.where(own.any(axis=0), own.argmax(axis=0), good.argmax(axis=0))
        take = np.take_along_axis(told.runs, first[None], axis=0)[0]
        return least, np.where(np.isnan(least), -1, take), told.plans

    def regret(self, prices: Prices) -> _Regret:
        """Return the library's choice and the best one, for which the library's is a candidate as well."""
        chosen, index, found, library = prices.taken()
        least, place, plans = self.best(prices)
        with np.errstate(invalid="ignore"):
            better = ~(library >= least / _ALIKE) & ~np.isnan(library)  # what it takes need not be a candidate
            worse = library > least * _ALIKE
        place = np.where(better, len(plans) + index, place)
        return _Regret(
            chosen, index, found, library, np.where(worse | np.isnan(library), least, library), place, [*plans, *found]
        )


@dataclass(frozen=True)
class _Regret:
    """Arrays over P and n: names chosen; places in `found`, what runs; seconds; places in `plans`, the best."""

    chosen: np.ndarray
    index: np.ndarray
    found: list[Plan]
    library: np.ndarray
    least: np.ndarray
    place: np.ndarray
    plans: list[Plan]


def best(
    machine: Machine | str,
    collective: str,
    P: Any,
    n: Any,
    candidates: Sequence[str] | None = None,
    segment_bytes: Sequence[int] = SEGMENTS,
    fan: Sequence[int] = FANS,
    radix: Sequence[int] = RADICES,
    **options: Any,
) -> xr.Dataset:
    r"""Return the algorithm that costs least on a machine, over P and n: :math:`\arg\min_i T_i(P, n)`.

    Parameters
    ----------
    machine : Machine or str
        A machine, or the name or path of its file.
    collective : str
        One of `list_collectives`.
    P : int or 1-D array
        Numbers of ranks.
    n : int, text, or 1-D array
        Bytes, or sizes with units ("1 MiB"), as in `predict`.
    candidates : sequence of str, optional
        Algorithms of `list_algorithms`. Unless given, all of Open MPI's that a rule file can name to any release from
        4.1 on; where the operation does not commute, those that the library takes then.
    segment_bytes : sequence of int
        Segment sizes that are tried for segmented algorithms, in bytes; 0 is one segment.
    fan : sequence of int
        Numbers of chains below the root that are tried for "chain".
    radix : sequence of int
        Radices that are tried for "knomial".
    **options
        rules, buffers, network, transport, staging, itemsize and commutative of `predict`, and keys of the machine
        file with one value each. `rules` decides the parts of composed algorithms.

    Returns
    -------
    xarray.Dataset
        Dimensions P and n. Variables: `algorithm`, the best, with the parts of a composed one; its `segment_bytes`
        and `fan` (0: none); `seconds`. Where nothing has a formula, "" and NaN. Of equals, the one with the lowest
        number of Open MPI. The attribute `candidates` names all that were tried; `note`, if there is one, says what
        else to know, as in `predict`, and which of them have no closed form on the network.

    Raises
    ------
    UnknownNameError
        For a name that is not there, or a symbol that the machine file has no number for.
    QuantityError
        For numbers out of range.

    Notes
    -----
    Formulas that are upper bounds (some, for P that are no powers of two) are taken as they are.
    """
    search = Search.of(machine, collective, candidates, segment_bytes, fan, radix, **options)
    ranks, sizes, prices = grid(search.setting, P, n)
    least, place, plans = search.best(prices)
    return dataset(
        search,
        ranks,
        sizes,
        {
            "algorithm": (_named(plans, place), {"long_name": "best algorithm"}),
            "segment_bytes": (_pick([p.segment_bytes for p in plans], place), {"units": "B"}),
            "fan": (_pick([p.fan for p in plans], place), {"units": "1"}),
            "seconds": (least, {"units": "s", "long_name": f"least time of {collective}"}),
        },
    )


def regret(
    machine: Machine | str,
    collective: str,
    P: Any,
    n: Any,
    candidates: Sequence[str] | None = None,
    segment_bytes: Sequence[int] = SEGMENTS,
    fan: Sequence[int] = FANS,
    radix: Sequence[int] = RADICES,
    **options: Any,
) -> xr.Dataset:
    r"""Return how many times slower the library's choice is than the best: :math:`T_{library} / \min_i T_i \ge 1`.

    Parameters and errors as of `best`; the library is the one of `rules`. What it takes is always a candidate.

    Returns
    -------
    xarray.Dataset
        Dimensions P and n. Variables: `library`, what it takes; `runs`, what then really runs; `best`, with its
        `segment_bytes` and `fan`; `seconds_library`, `seconds_best`; `regret`, 1 where nothing is better.
        NaN where what the library runs has no formula, as the attribute `note` then says; 1 on one rank.
    """
    search = Search.of(machine, collective, candidates, segment_bytes, fan, radix, **options)
    ranks, sizes, prices = grid(search.setting, P, n)
    return regret_dataset(search, ranks, sizes, search.regret(prices))


def regret_dataset(search: Search, ranks: np.ndarray, sizes: np.ndarray, found: _Regret) -> xr.Dataset:
    """Return the arrays of a regret with their labels."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(found.library == found.least, 1.0, found.library / found.least)
    ratio[np.isnan(found.library)] = np.nan
    collective, setting = search.setting.collective, search.setting
    missing = np.unique(found.index[np.isnan(found.library)]).tolist()
    return dataset(
        search,
        ranks,
        sizes,
        {
            "library": (found.chosen.astype(object), {"long_name": f"choice of {search.setting.about['rules']}"}),
            "runs": (_named(found.found, found.index), {"long_name": "what then runs"}),
            "best": (_named(found.plans, found.place), {"long_name": "best algorithm"}),
            "segment_bytes": (_pick([p.segment_bytes for p in found.plans], found.place), {"units": "B"}),
            "fan": (_pick([p.fan for p in found.plans], found.place), {"units": "1"}),
            "seconds_library": (found.library, {"units": "s", "long_name": f"time of {collective}, as the library"}),
            "seconds_best": (found.least, {"units": "s", "long_name": f"least time of {collective}"}),
            "regret": (ratio, {"units": "1", "long_name": "time of the library's choice over the least"}),
        },
        setting.without_formula(found.found[i].described for i in missing),
    )


def grid(setting: Setting, P: Any, n: Any) -> tuple[np.ndarray, np.ndarray, Prices]:
    """Return P and n as the axes of a grid, and the prices on it."""
    ranks, sizes = axis("P", P), axis("n", n)
    prices = Prices(setting, whole("P", ranks, 1, LARGEST_SIZE)[:, None], whole("n", sizes)[None, :])
    return ranks, sizes, prices


def dataset(
    search: Search, ranks: np.ndarray, sizes: np.ndarray, variables: dict[str, tuple[Any, Any]], note: str = ""
) -> xr.Dataset:
    """Return arrays over P and n with their labels, and a note."""
    import xarray as xr

    coordinates = {
        "P": ("P", ranks, {"units": "1", "long_name": "ranks"}),
        "n": ("n", sizes, {"units": "B", "long_name": "message size"}),
    }
    about = {
        **search.setting.described(note, search.left_out),
        "candidates": [plan.described for plan in search.told],
        "bounds": _BOUNDS,
    }
    return xr.Dataset({k: (("P", "n"), *v) for k, v in variables.items()}, coordinates, attrs=about)


def _named(plans: Sequence[Plan], place: np.ndarray) -> np.ndarray:
    """Return the names of plans by their place; "" for -1."""
    return np.asarray(np.array([*map(str, plans), ""], dtype=object)[place])


def _pick(numbers: Sequence[int], place: np.ndarray) -> np.ndarray:
    return np.asarray(np.array([*numbers, 0])[place])
