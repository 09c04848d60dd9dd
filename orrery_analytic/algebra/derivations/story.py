"""`derivation`: how a closed form comes about, from rounds to the total, in numbered steps for a paper."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from orrery_analytic.algebra.derivations import sources
from orrery_analytic.algebra.derivations.layout import Written, latex, width, write
from orrery_analytic.algebra.derivations.parts import Part, device_words, parts_of
from orrery_analytic.algebra.derivations.paths import meanings
from orrery_analytic.algebra.derivations.prose import html_text, latex_text, plain_text
from orrery_analytic.algebra.derivations.sources import Source, sources_of
from orrery_analytic.algebra.derivations.steps import Equation, Step, Symbols
from orrery_analytic.calls import collective_cost
from orrery_analytic.collectives.formulas import network_cost
from orrery_analytic.collectives.registry import counted, list_algorithms
from orrery_analytic.collectives.rounds import Phase, k
from orrery_analytic.cost import Cost
from orrery_analytic.decisions import list_collectives
from orrery_analytic.errors import choose
from orrery_analytic.networks import Hockney, LogGP, Network, TwoLevel
from orrery_analytic.symbols import describe

__all__ = ["Story", "derivation", "document_of"]

_INLINE = 26
"""Letters of a formula inside a sentence; wider ones stand on their own."""
_DOCUMENT = r"""\documentclass[10pt,a4paper]{{article}}
\usepackage{{amsmath}}
\usepackage[margin=2.5cm]{{geometry}}
\setlength{{\parindent}}{{0pt}}
\begin{{document}}
{body}
{end}
\end{{document}}
"""


@dataclass(frozen=True, repr=False)
class Story:
    """The derivation of a closed form. Prints itself in a notebook, as LaTeX and as text.

    Parameters
    ----------
    collective, algorithm : str
    network : Hockney, LogGP or TwoLevel
    cost : Cost
        What is derived; `cost.total` is the last line.
    parts : tuple of Part
        Rounds and their sums: one part, or one for each collective that a composed algorithm calls.
    written : Written
        Terms and total with the names that shorten them.
    steps : tuple of Step
    sources : tuple of Source
    """

    collective: str
    algorithm: str
    network: Network
    cost: Cost
    parts: tuple[Part, ...]
    written: Written
    steps: tuple[Step, ...]
    sources: tuple[Source, ...]

    @property
    def total(self) -> sp.Expr:
        """The closed form, in seconds."""
        return self.cost.total

    @property
    def validity(self) -> str:
        """Where the closed form is exact."""
        return self.cost.validity

    @property
    def title(self) -> str:
        """What is derived."""
        return f"{self.collective}, {self.algorithm}, under {type(self.network).__name__}"

    @property
    def symbols(self) -> Symbols:
        """Symbols of the formulas with their units."""
        names = sorted(self.cost.symbols, key=lambda name: (name not in ("P", "n"), name.lower(), name))
        rows = [(i.symbol, i.unit, i.meaning) for i in map(describe, names)]
        size = f"message size: the bytes of {counted(self.collective)}"
        rows = [(s, unit, size if s.name == "n" else meaning) for s, unit, meaning in rows]
        rows += [(symbol, "1", f"${latex(e)}$, a whole number") for e, symbol in self.written.logarithms.items()]
        return Symbols((*rows, (k, "1", "index of a round")))

    @property
    def bibtex(self) -> str:
        """The sources as the text of a .bib file."""
        return sources.bibtex(self.sources)

    @property
    def _exact(self) -> str:
        told = self.validity.replace(f"{self.collective} {self.algorithm}: ", "").rstrip(".")
        return f"Where it holds: {told}. On one rank the cost is 0; formulas are stated for P >= 2."

    def latex(self, document: bool = False) -> str:
        """Return the derivation as LaTeX; its last line is the total.

        Parameters
        ----------
        document : bool
            A whole document that pdflatex compiles, with its sources; else the body, for a paper that loads amsmath
            and takes `bibtex` into its bibliography.
        """
        cited = ", ".join(rf"\cite{{{source.key}}}" for source in self.sources)
        body = "\n\n".join(
            [
                rf"\subsection*{{{latex_text(self.title)}}}",
                rf"\noindent {self.symbols.latex()}",
                rf"\medskip\noindent {latex_text(self._exact)} Sources: {cited}.",
                *(step.latex(i) for i, step in enumerate(self.steps, start=1)),
            ]
        )
        return document_of(body, sources.bibliography(self.sources)) if document else body

    def _repr_latex_(self) -> str:
        return self.latex()

    def _repr_html_(self) -> str:
        steps = "".join(step.html(i) for i, step in enumerate(self.steps, start=1))
        cited = "; ".join(f"<code>{source.key}</code>" for source in self.sources)
        return (
            f"<h4>{html_text(self.title)}</h4>{self.symbols.html()}<p>{html_text(self._exact)}</p>{steps}"
            f"<p>Sources (<code>.bibtex</code>): {cited}</p>"
        )

    def __repr__(self) -> str:
        steps = [step.text(i) for i, step in enumerate(self.steps, start=1)]
        return "\n".join([self.title, self.symbols.text(), plain_text(self._exact), *steps])


def document_of(body: str, end: str) -> str:
    """Return a document that pdflatex compiles, of the bodies of derivations and their bibliography."""
    return _DOCUMENT.format(body=body, end=end)


def derivation(
    collective: str,
    algorithm: str,
    network: Network = Hockney(),  # noqa: B008 - frozen
    **options: Any,
) -> Story:
    r"""Return how the closed form of an algorithm comes about, in numbered steps, for a paper or a notebook.

    The pattern in words; what a round costs; the sum over the rounds, written down; the closed form of each term; the
    total, :math:`T(P, n)` in seconds. Where no sum over rounds is exact the third step says why, and of what path the
    closed form is the time.

    Parameters
    ----------
    collective, algorithm : str
        Names of `list_collectives` and `list_algorithms`.
    network : Hockney, LogGP or TwoLevel
    **options
        As in `collective_cost`: buffers, segment_bytes ("symbol" keeps n_s), fan, radix, parts, ranks_per_node ...

    Returns
    -------
    Story
        ``.latex()``, ``.latex(document=True)``, ``.bibtex``, ``.steps``, ``.total`` (that of `collective_cost`),
        ``.symbols``, ``.validity``.

    Raises
    ------
    UnknownNameError
        For a name or an option that is not there, and for a composed algorithm without `parts` and `P`.
    QuantityError
        As `collective_cost`.
    """
    choose(f"{collective} algorithm", algorithm, list_algorithms(choose("collective", collective, list_collectives())))
    allowed = [name for name in inspect.signature(collective_cost).parameters if name not in _NAMED]
    for name in options:
        choose("option of a derivation", name, allowed)
    cost = collective_cost(collective, algorithm, network, **options)
    of_network = {name: options[name] for name in _NETWORK if name in options}
    alone = network_cost(collective, algorithm, network, **of_network)
    parts = parts_of(collective, algorithm, network, of_network)
    written = write(cost.terms, cost.total, [e for part in parts for e in part.expressions()])
    parts = tuple(part.written(written.logarithms) for part in parts)
    found = (
        Step("Pattern", _pattern(algorithm, parts)),
        Step("Cost of one round", _rounds(network, parts)),
        Step("Sum over the rounds", _sums(parts)),
        Step("Closed form of each term", _terms(cost, alone, written, options)),
        Step("Total", (Equation("T", written.total),)),
    )
    known = [(part.collective, part.algorithm) for part in parts] or [(collective, algorithm)]
    return Story(collective, algorithm, network, cost, parts, written, found, sources_of(network, known))


_NAMED = ("collective", "algorithm", "network")
_NETWORK = ("segment_bytes", "fan", "radix", "parts", "ranks_per_node", "P")


def _pattern(algorithm: str, parts: tuple[Part, ...]) -> tuple[str | Equation, ...]:
    """Return who sends what in which round."""
    if not parts:
        return (
            "The library decides the parts of this algorithm by n on these ranks; each is a collective of its own.",
        )
    out: list[str | Equation] = []
    if len(parts) > 1:
        told = ", then ".join(f"{part.collective} by {part.algorithm}" for part in parts)
        out.append(f"{algorithm} calls other collectives one after the other: {told}.")
    for part in parts:
        of = f" ({part.collective} by {part.algorithm})" if len(parts) > 1 else ""
        for name, phase in part.phases:
            out += _phase(f"Phase {name}{of}: {phase.label}", phase, isinstance(part.network, LogGP))
    if any(part.skips for part in parts):
        out.append("A phase whose last round comes before its first one has no round.")
    return tuple(out)


def _phase(head: str, phase: Phase, eager: bool) -> list[str | Equation]:
    """Return one phase: its index k, what moves, and what is reduced; inline where that is short."""
    how = (" inside a node" if phase.inside else "") + (
        " without waiting for the one before" if phase.back_to_back and eager else ""
    )
    first, last = latex(sp.sympify(phase.first)), latex(sp.sympify(phase.last))
    sizes = {r"\text{bytes of a message}": phase.nbytes, r"\text{bytes to reduce}": phase.reduced}
    shown = {left: latex(sp.sympify(e)) for left, e in sizes.items() if e != 0}
    if max(map(width, (first, last, *shown.values()))) > _INLINE:
        rows = [Equation("k", f"{first}, \\ldots, {last}"), *(Equation(left, text) for left, text in shown.items())]
        return [f"{head}. Rounds $k$, each one message{how}:", *rows]
    moved = f"of ${shown[left]}$ bytes" if (left := next(iter(sizes))) in shown else "of no bytes"
    also = f"; then ${latex(sp.sympify(phase.reduced))}$ bytes are reduced" if phase.reduced != 0 else ""
    return [f"{head}. Rounds $k = {first}$ to ${last}$, each one message {moved}{how}{also}."]


def _rounds(network: Network, parts: tuple[Part, ...]) -> tuple[str | Equation, ...]:
    """Return what a round of each phase costs."""
    if isinstance(network, TwoLevel):
        inside, between = network.inside.message(sp.Symbol("m")), network.between.message(sp.Symbol("m"))
        return (
            "A message of $m$ bytes costs, inside a node and between nodes:",
            Equation(r"t_{\text{inside}}(m)", inside),
            Equation(r"t_{\text{between}}(m)", between),
            "Messages that share a network card send their bytes one after another; their latencies overlap.",
        )
    rule = "A message of $m$ bytes costs $\\alpha + m \\beta$, and a reduced byte $\\gamma$."
    if isinstance(network, LogGP):
        rule = (
            "A message of $m$ bytes is there after $A(m) = L + 2 o + (m - 1) G$, and two messages of one rank lie "
            "$d(m) = \\max(o, g + (m - 1) G)$ apart; a reduced byte costs $\\gamma$. A message of no bytes counts "
            "as one."
        )
    costs = [Equation(f"t_{{{name}}}(k)", price) for part in parts for name, price in part.prices(network)]
    return (rule, *costs)


def _sums(parts: tuple[Part, ...]) -> tuple[str | Equation, ...]:
    """Return the sum over rounds, not yet evaluated, or why there is none."""
    out: list[str | Equation] = []
    for part in parts:
        head = f"{part.collective} by {part.algorithm}: " if len(parts) > 1 else ""
        if part.why:
            out.append(f"{head}{part.why}")
            continue
        less = " The gap after the very last message is not waited for." if part.last_gap != 0 else ""
        out.append(f"{head}Rounds follow one another, so that their costs add up.{less}")
        out.append(Equation(f"T_{{\\text{{{latex_text(part.collective)}}}}}" if head else "T", *part.sum_rows()))
    return tuple(out) or ("Each of the parts is a sum of its own; they add up.",)


def _terms(cost: Cost, alone: Cost, written: Written, options: Mapping[str, Any]) -> tuple[str | Equation, ...]:
    """Return the terms, after the names and functions that they use."""
    used = [*written.terms.values(), written.total, *(e for _, e in written.names)]
    out: list[str | Equation] = [f"{text}." for text in meanings(used)]
    if written.others:
        out += ["To keep the formulas short:", *(Equation(latex(s), e) for s, e in written.others)]
    out += device_words(cost, alone, options)
    out.append("Term by term:")
    names = {name: name.replace("_", " ") for name in written.terms}
    out += [Equation(rf"T_{{\text{{{names[name]}}}}}", e) for name, e in written.terms.items()]
    return tuple(out)
