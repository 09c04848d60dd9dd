"""Tables as text, CSV or JSON, on the screen or in a file that is not there yet."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from orrery_analytic.errors import QuantityError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["free", "give", "table_text"]


def table_text(table: pd.DataFrame, asked: argparse.Namespace) -> str:
    """Return a table in the form that was asked for."""
    if asked.csv:
        return str(table.to_csv(index=False, lineterminator="\n"))
    if asked.json:
        rows = [{k: None if v != v else v for k, v in row.items()} for row in table.to_dict("records")]
        return f"{json.dumps(rows, indent=1)}\n"
    import pandas as pd

    whole = [name for name, column in table.items() if column.dtype == float and (column.dropna() % 1 == 0).all()]
    with pd.option_context("display.float_format", "{:.6g}".format):
        return f"{table.astype(dict.fromkeys(whole, 'Int64')).to_string(index=False, na_rep='NaN')}\n"


def free(name: str, overwrite: bool) -> Path:
    """Return the path of a file that may be written: in a folder that is there, over no other file unless told."""
    from orrery_analytic.exports.files import check_free, folder_of

    path = folder_of(Path(name).parent) / Path(name).name
    if not path.parent.is_dir():
        raise QuantityError(
            f"there is no folder {str(path.parent)!r} for {path.name!r}: make it, or give another path."
        )
    check_free([path], overwrite)
    return path


def give(text: str, asked: argparse.Namespace) -> None:
    """Print a result, or write it to the file that was named."""
    if asked.out is None:
        sys.stdout.write(text)
        return
    from orrery_analytic.exports.files import write_all

    write_all({free(asked.out, asked.overwrite): text})
