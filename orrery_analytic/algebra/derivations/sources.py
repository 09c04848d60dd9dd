"""Where patterns and networks come from, as BibTeX; what was recalled and not read again is cited as "after".

Only what is known for sure stands in an entry: for those that say "after", no title, page or table number was looked
up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orrery_analytic.networks import LogGP, Network

__all__ = ["Source", "bibliography", "bibtex", "sources_of"]


@dataclass(frozen=True)
class Source:
    r"""One entry of a bibliography.

    Parameters
    ----------
    key : str
        What ``\cite`` takes.
    author, where, year : str
        As LaTeX; no year where there is none.
    read : bool
        Whether the text itself was read; else it is cited as "after".
    note : str
        What was taken from it.
    """

    key: str
    author: str
    where: str
    year: str = ""
    read: bool = False
    note: str = ""

    @property
    def remark(self) -> str:
        """What was taken, and whether from the text itself."""
        return self.note if self.read else f"After this work, cited from memory{f'; {self.note}' if self.note else ''}"

    def bibtex(self) -> str:
        """Return the entry as BibTeX, of the kind misc, which needs no title."""
        rows = {"author": self.author, "howpublished": self.where, "year": self.year, "note": self.remark}
        body = ",\n".join(f"  {name} = {{{text}}}" for name, text in rows.items() if text)
        return f"@misc{{{self.key},\n{body}\n}}"

    def item(self) -> str:
        """Return the entry as LaTeX's bibitem, for a document without BibTeX."""
        author = self.author.strip("{}").replace(" and others", " et al.").replace(" and ", ", ")
        parts = (author, self.where, self.year, self.remark)
        return rf"\bibitem{{{self.key}}} " + ". ".join(part for part in parts if part) + "."


_MPICH = "pmodels/mpich, commit 6a79bf6575c3, src/mpi/coll"
_OPENMPI = "open-mpi/ompi, commit 8efebee745e1, ompi/mca/coll/base"
_ALL = {
    s.key: s
    for s in (
        Source("orrery-analytic", "{orrery\\_analytic developers}", "Python package", note="Closed form, derived and "
               "held against the message schedule of the algorithm in exact arithmetic", read=True),
        Source("hockney1994", "Hockney", "Parallel Computing 20(3)", "1994", note="a message of m bytes takes "
               "$\\alpha + m\\beta$"),
        Source("alexandrov1995", "Alexandrov and others", "SPAA", "1995", note="the LogGP model"),
        Source("chan2007", "Chan and Heimlich and Purkayastha and van de Geijn", "Concurrency and Computation: "
               "Practice and Experience 19(13)", "2007", note="collectives and their lower bounds"),
        Source("thakur2005", "Thakur and Rabenseifner and Gropp", "", "2005", note="collectives in MPICH"),
        Source("rabenseifner2004", "Rabenseifner", "", "2004", note="reductions by halving and doubling"),
        Source("patarasuk2009", "Patarasuk and Yuan", "Journal of Parallel and Distributed Computing 69(2)", "2009",
               note="the ring allreduce"),
        Source("bruck1997", "Bruck and others", "IEEE Transactions on Parallel and Distributed Systems 8(11)", "1997"),
        Source("chen2005", "Chen and others", "HPC Asia", "2005", read=True,
               note="Neighbor exchange; as cited in the source of Open MPI"),
        Source("hensgen1988", "Hensgen and Finkel and Manber", "", "1988", note="the dissemination barrier"),
        Source("pjesivac2007", "Pje\\v{s}ivac-Grbovi\\'c and others", "", "2007", note="models of MPI collectives"),
        Source("desensi2025", "De Sensi and others", "Bine Trees: Enhancing Collective Operations by Optimizing "
               "Communication Locality, SC25", "2025", read=True, note="Bine trees and butterflies"),
        Source("openmpi", "{Open MPI developers}", f"Source code, {_OPENMPI}", read=True,
               note="Pattern of the algorithm"),
        Source("mpich", "{MPICH developers}", f"Source code, {_MPICH}", read=True, note="Pattern, and the Hockney form "
               "in a comment of the source"),
    )
}  # fmt: skip
_BY_NAME = (
    ("bine", ("desensi2025",)),
    ("rabenseifner", ("rabenseifner2004", "thakur2005")),
    ("recursive", ("thakur2005",)),
    ("segmented_ring", ("patarasuk2009",)),
    ("neighbor", ("chen2005",)),
    ("scatter_allgather", ("chan2007", "thakur2005")),
    ("pipeline", ("pjesivac2007",)),
    ("chain", ("pjesivac2007",)),
    ("binary", ("pjesivac2007",)),
    ("binomial", ("thakur2005", "pjesivac2007")),
)
_MPICH_HAS_FORM = {
    ("allgather", "ring"), ("allgather", "recursive_doubling"), ("allgather", "bruck"), ("bcast", "binomial"),
    ("bcast", "scatter_allgather"), ("bcast", "scatter_allgather_ring"), ("reduce", "binomial"),
    ("reduce", "rabenseifner"), ("allreduce", "recursive_doubling"), ("allreduce", "rabenseifner"),
    ("reduce_scatter", "recursive_halving"), ("reduce_scatter", "mpich_pairwise"), ("alltoall", "pairwise"),
    ("alltoall", "modified_bruck"), ("gather", "binomial"), ("scatter", "binomial"),
}  # fmt: skip


def sources_of(network: Network, algorithms: Iterable[tuple[str, str]]) -> tuple[Source, ...]:
    """Return what a derivation rests on: its network, where its patterns come from, and this package.

    Parameters
    ----------
    network : Hockney, LogGP or TwoLevel
    algorithms : iterable of (collective, algorithm)
        One, or the parts of a composed algorithm.
    """
    keys = ["alexandrov1995" if isinstance(network, LogGP) else "hockney1994"]
    for collective, name in algorithms:
        if name.startswith("mpich_") or (collective, name) in _MPICH_HAS_FORM:
            keys.append("mpich")
        if not name.startswith(("mpich_", "bine_", "two_level_")):
            keys.append("openmpi")
        keys += next((found for part, found in _BY_NAME if part in name), ())
        keys += ["patarasuk2009"] if (collective, name) == ("allreduce", "ring") else []
        keys += ["bruck1997"] if "bruck" in name and collective != "barrier" else []
        keys += ["hensgen1988"] if (collective, name) == ("barrier", "bruck") else []
    return tuple(_ALL[key] for key in dict.fromkeys([*keys, "orrery-analytic"]))


def bibtex(sources: Iterable[Source]) -> str:
    """Return entries as the text of a .bib file."""
    return "\n\n".join(source.bibtex() for source in sources) + "\n"


def bibliography(sources: Iterable[Source]) -> str:
    """Return entries as LaTeX's thebibliography, for a document that is compiled without BibTeX."""
    items = "\n".join(source.item() for source in sources)
    return f"\\begin{{thebibliography}}{{99}}\n{items}\n\\end{{thebibliography}}"
