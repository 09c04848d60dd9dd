"""`Machine`: the numbers of one computer for the symbols of the formulas, each with its provenance."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace as with_fields
from functools import cached_property
from types import MappingProxyType
from typing import cast

from orrery_analytic.errors import unknown_name
from orrery_analytic.machines.keys import COPIES, MACHINE_KEYS
from orrery_analytic.machines.records import Band, Record, band_copy, check_text, check_value, written
from orrery_analytic.units import readable

__all__ = ["Machine"]


@dataclass(frozen=True)
class Machine:
    """A computer, as the formulas see it. Made by `load_machine`; changed by `replace`, which returns another one.

    Attributes
    ----------
    name, description
        What the machine file says.
    records
        One `Record` for each value, in the order of the file.
    """

    name: str
    description: str
    records: tuple[Record, ...]

    @cached_property
    def _by_key(self) -> dict[str, Record]:
        return {record.key: record for record in self.records}

    @cached_property
    def _parameters(self) -> dict[str, float]:
        numbers: dict[str, float] = {}
        for record in self.records:
            copy = band_copy(record.key)
            if copy:
                numbers |= _band_numbers(copy, cast(tuple[Band, ...], record.si))
            elif record.key in MACHINE_KEYS and (symbol := MACHINE_KEYS[record.key].symbol):
                value = cast(float, record.si)
                numbers[symbol] = 1 / value if MACHINE_KEYS[record.key].inverse else value
        return numbers

    @property
    def parameters(self) -> Mapping[str, float]:
        """SI numbers by the names of their symbols; a symbol that the file has no value for is absent."""
        return MappingProxyType(self._parameters)

    @property
    def provenance(self) -> Mapping[str, Record]:
        """For each key of the machine file the value as written, its origin and its reference."""
        return MappingProxyType(self._by_key)

    @property
    def values(self) -> Mapping[str, float]:
        """SI numbers by the keys of the machine file, in the units of `MACHINE_KEYS`: bandwidths in B/s."""
        numbers: dict[str, float] = {}
        for record in self.records:
            if isinstance(record.si, tuple):
                last = record.si[-1]
                numbers[f"{band_copy(record.key)}_latency"] = last.latency
                numbers[f"{band_copy(record.key)}_bandwidth"] = last.bandwidth
            elif not isinstance(record.si, str):
                numbers[record.key] = record.si
        return MappingProxyType(numbers)

    @property
    def bands(self) -> dict[str, int]:
        """Number of size bands of each copy that the file has: "d2h", "h2d", and "pinned_d2h", "pinned_h2d"."""
        found = {copy: self._by_key.get(f"{copy}_bands") for copy in COPIES if f"alpha_{copy}" in self._parameters}
        return {copy: len(cast(tuple[Band, ...], record.si)) if record else 1 for copy, record in found.items()}

    @property
    def pinned(self) -> bool:
        """Whether the file has copies to and from pinned host memory; without them, `pinned=` of a cost stays False."""
        return {"pinned_d2h", "pinned_h2d"} <= set(self.bands)

    @property
    def ranks_per_node(self) -> int:
        """Ranks on a node."""
        return cast(int, self._by_key["ranks_per_node"].si)

    @property
    def network_cards_per_node(self) -> int:
        """Network cards that the ranks of a node share, as an effective number."""
        return cast(int, self._by_key["network_cards_per_node"].si)

    @property
    def library(self) -> str:
        """MPI library of the machine, "Open MPI 4.1.6"."""
        return cast(str, self._by_key["library"].si)

    def replace(self, **overrides: object) -> Machine:
        """Return the machine with other values: what if?

        Parameters
        ----------
        **overrides
            Keys of the machine file (`MACHINE_KEYS`, name, description, library, d2h_bands and its like) with values
            as the file has them ("21 GB/s"), plain SI numbers, or pint quantities. One latency or bandwidth for a copy
            that has size bands makes one band of it, and the other number is that of the largest sizes.

        Raises
        ------
        UnknownNameError
            If a key does not exist.
        QuantityError
            If a value has the wrong unit or lies outside its range.
        """
        texts = {k: check_text(k, overrides.pop(k)) for k in ("name", "description") if k in overrides}
        records = dict(self._by_key)
        for key, value in overrides.items():
            if key not in MACHINE_KEYS and key != "library" and not band_copy(key):
                bands = [f"{copy}_bands" for copy in COPIES]
                allowed = [*MACHINE_KEYS, *bands, "library", "name", "description"]
                raise unknown_name("key of a machine", key, allowed)
            si = check_value(key, value, bare=True)
            _make_room(records, key)
            old = records.get(key)
            if old is None:
                reference = "not in the machine file"
            else:
                reference = old.reference if old.origin == "what if" else f"instead of {old.value} ({old.origin})"
            records[key] = Record(key, written(key, value, si), "what if", reference, si)
        return with_fields(self, records=tuple(records.values()), **texts)

    def __repr__(self) -> str:
        speed = f"latency {self._by_key['latency'].value}, bandwidth {self._by_key['bandwidth'].value}"
        node = f"ranks_per_node {self.ranks_per_node}, network_cards_per_node {self.network_cards_per_node}"
        return f"<Machine {self.name!r}: {self.library}, {node}, {speed}>"

    def _repr_html_(self) -> str:
        left = "style='text-align:left'"
        names = ("key", "symbol", "value", "origin", "reference")
        heads = "".join(f"<th {left}>{name}</th>" for name in names)
        rows = []
        for record in self.records:
            copy, info = band_copy(record.key), MACHINE_KEYS.get(record.key)
            symbol = f"alpha_{copy}_i, beta_{copy}_i" if copy else (info.symbol if info else None)
            cells = (record.key, symbol or "", record.value, record.origin, record.reference)
            rows.append("<tr>" + "".join(f"<td {left}>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
        caption = f"<caption><b>{html.escape(self.name)}</b>: {html.escape(self.description)}</caption>"
        return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _band_numbers(copy: str, bands: tuple[Band, ...]) -> dict[str, float]:
    """Return the parameters of the bands of a copy; those without a number are the band of the largest sizes."""
    numbers = {f"alpha_{copy}": bands[-1].latency, f"beta_{copy}": 1 / bands[-1].bandwidth}
    if len(bands) == 1:
        return numbers
    for i, band in enumerate(bands, start=1):
        numbers |= {f"alpha_{copy}_{i}": band.latency, f"beta_{copy}_{i}": 1 / band.bandwidth}
        if band.up_to is not None:
            numbers[f"s_{copy}_{i}"] = band.up_to
    return numbers


def _make_room(records: dict[str, Record], key: str) -> None:
    """Take out of `records` what the new value of `key` stands in for: bands for one latency, or the reverse."""
    copy = key.rpartition("_")[0]
    single = [f"{copy}_latency", f"{copy}_bandwidth"]
    if band_copy(key):
        for name in single:
            records.pop(name, None)
    elif key in single and (record := records.pop(f"{copy}_bands", None)):
        last = cast(tuple[Band, ...], record.si)[-1]
        for name, si, unit in zip(single, (last.latency, last.bandwidth), ("s", "B/s"), strict=True):
            records[name] = Record(name, readable(si, unit), record.origin, record.reference, si)
