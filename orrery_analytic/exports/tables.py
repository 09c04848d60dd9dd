"""Predictions as CSV: SI units, each in its column's head."""

from __future__ import annotations

from collections.abc import Mapping

import xarray as xr

__all__ = ["csv_text"]


def csv_text(choice: xr.Dataset, algorithms: Mapping[str, xr.Dataset] | None = None) -> str:
    """Return a prediction as CSV with "name (unit)" as heads; floats to nine digits.

    Parameters
    ----------
    choice : Dataset
        What `predict` returns: the library's choice.
    algorithms : mapping of name to Dataset, optional
        ``predict(..., algorithm=name)`` over the same P and n: a column of seconds each.
    """
    table = choice.to_dataframe().reset_index()
    heads = {
        name: f"{name} ({choice[name].attrs['units']})"
        for name in map(str, table.columns)
        if name in choice.variables and "units" in choice[name].attrs
    }
    table = table.rename(columns=heads)
    for name, data in (algorithms or {}).items():
        table[f"{name} (s)"] = data["seconds"].to_dataframe().reset_index()["seconds"]
    return str(table.to_csv(index=False, float_format="%.9g", lineterminator="\n"))
