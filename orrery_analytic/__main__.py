"""The same verbs in a shell: ``python -m orrery_analytic select allreduce -P 64 -n 1MiB``.

Tables are aligned text, or CSV or JSON; what is wrong is one line on the standard error, and exit code 2.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

import orrery_analytic
from orrery_analytic.command import choices, logs, papers
from orrery_analytic.command.arguments import Parser
from orrery_analytic.errors import OrreryError

__all__ = ["main"]


def _parser() -> Parser:
    parser = Parser("python -m orrery_analytic", description="What a GPU-aware MPI call costs.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"orrery_analytic {orrery_analytic.__version__}")
    verbs = parser.add_subparsers(metavar="verb", required=True)
    for add in (
        choices.add_select, choices.add_predict, logs.add_read, logs.add_fit, choices.add_tune, papers.add_draw,
        papers.add_derive, papers.add_crossover, papers.add_export,
    ):  # fmt: skip
        add(verbs)
    return parser


def _parts(given: re.Match[str]) -> str:
    """Return parts=("a", "b") as the option of `derive`."""
    return "--parts " + given[1].replace('", "', ",")


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
        sys.stdout.flush()
    except OrreryError as error:
        told = " ".join(str(error).split()).replace("overwrite=True", "--overwrite")
        if hasattr(asked, "parts"):
            told = re.sub(r'parts=\("([^)]*)"\)', _parts, told)
        sys.stderr.write(f"orrery_analytic: {told}\n")
        return 2
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left in the buffer goes nowhere
        if not isinstance(error, BrokenPipeError):  # | head
            sys.stderr.write(f"orrery_analytic: the result cannot be written ({error.strerror or error}).\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
