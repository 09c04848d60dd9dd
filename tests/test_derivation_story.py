import itertools

import pytest
import sympy as sp

import orrery_analytic as oa
from orrery_analytic.algebra.derivations.layout import latex, width, write
from orrery_analytic.algebra.derivations.prose import html_text, latex_text, plain_text
from orrery_analytic.algebra.derivations.sources import sources_of
from orrery_analytic.algebra.derivations.story import derivation
from orrery_analytic.collectives.registry import COMPOSED, find, list_algorithms, resolve
from orrery_analytic.collectives.rounds import k
from orrery_analytic.decisions import list_collectives
from orrery_analytic.errors import QuantityError, UnknownNameError
from orrery_analytic.symbols import P, n

EVERY = [(c, a) for c in list_collectives() for a in list_algorithms(c)]
NUMBERS = {
    "n": sp.Integer(2**20), "alpha": sp.Rational(2, 10**6), "beta": sp.Rational(1, 10**10),
    "gamma": sp.Rational(1, 10**9), "L": sp.Rational(1, 10**6), "o": sp.Rational(1, 10**7),
    "g": sp.Rational(3, 10**6), "G": sp.Rational(1, 10**10),
}  # fmt: skip


def parts_for(collective, algorithm):
    composed = COMPOSED.get(resolve(collective, algorithm), ())
    free = [p.collective for p in composed if not p.algorithm]
    return {"parts": tuple(f"{c}:binomial" for c in free)} if composed else {}


def at(expression, ranks):
    numbers = {s: NUMBERS[s.name] for s in expression.free_symbols if s.name in NUMBERS}
    return sp.sympify(expression).subs(P, ranks).subs(numbers)


def added_up(part, written, ranks):
    """Return the sum over the rounds of a part on so many ranks, round by round."""
    total = -at(written.spelled_out(part.last_gap), ranks)
    for (_, price), (_, phase) in zip(part.prices(part.network), part.phases, strict=True):
        first, last = (int(written.spelled_out(sp.sympify(e)).subs(P, ranks)) for e in (phase.first, phase.last))
        total += sum(at(written.spelled_out(price).subs(k, i), ranks) for i in range(first, last + 1))
    return total


def same(written, expected, ranks):
    """Long formulas are not the same expression: SymPy multiplies out, and cases of several terms stand together."""
    return written == expected or [at(written, p) for p in ranks] == [at(expected, p) for p in ranks]


def check(collective, algorithm, network):
    options = parts_for(collective, algorithm)
    story = derivation(collective, algorithm, network, **options)
    expected = oa.collective_cost(collective, algorithm, network, **options).total
    ranks = [p for p in (2, 3, 12, 16) if options or find(collective, algorithm).exists(p)]
    assert story.total == expected
    last = story.steps[-1].body[-1].right
    assert story.latex().splitlines()[-1] == rf"\[ T = {latex(last)} \]"
    assert same(story.written.spelled_out(last), expected, ranks)
    assert story.written.terms.keys() == story.cost.terms.keys()
    for name, term in story.written.terms.items():
        assert same(story.written.spelled_out(term), story.cost.terms[name], ranks)
    if story.parts and not any(part.why for part in story.parts):
        for p in ranks:
            assert sum(added_up(part, story.written, p) for part in story.parts) == at(expected, p)


@pytest.mark.parametrize("collective", list_collectives())
def test_the_last_line_is_the_total_and_the_rounds_add_up_to_it(collective):
    for algorithm in list_algorithms(collective):
        check(collective, algorithm, oa.Hockney())


@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [("allreduce", "ring"), ("bcast", "basic_linear"), ("bcast", "binomial"), ("barrier", "two_proc")],
)
def test_the_same_under_loggp(collective, algorithm):
    """All others: tests/latex."""
    check(collective, algorithm, oa.LogGP())


def test_where_no_sum_is_exact_the_story_says_so():
    story = derivation("bcast", "binomial", oa.LogGP())
    assert "maximum over the paths" in story.steps[2].body[0]
    assert r"\sum" not in story.latex()
    assert r"\sum" in derivation("bcast", "binomial").latex()


def test_a_story_has_five_numbered_steps_and_tells_where_it_holds():
    story = derivation("allgather", "bine_butterfly")
    assert [step.title for step in story.steps] == [
        "Pattern", "Cost of one round", "Sum over the rounds", "Closed form of each term", "Total",
    ]  # fmt: skip
    for text in (story.latex(), story._repr_html_(), repr(story)):
        assert "there is no such algorithm for other" in text
        assert all(f"{i}. {step.title}" in text for i, step in enumerate(story.steps, start=1))


def test_symbols_have_units_and_n_says_what_it_counts():
    rows = {str(symbol): (unit, meaning) for symbol, unit, meaning in derivation("alltoall", "pairwise").symbols.rows}
    assert rows["alpha"][0] == "s"
    assert rows["beta"][0] == "s/B"
    assert rows["n"] == ("B", "message size: the bytes of one pair's block")


def test_options_are_those_of_collective_cost():
    options = {"buffers": "device", "transport": "gdr"}
    story = derivation("allreduce", "ring", **options)
    assert story.total == oa.collective_cost("allreduce", "ring", **options).total
    assert "Device buffers add" in repr(story)
    printed = derivation("allreduce", "rabenseifner", reduction="printed")
    assert "as printed" in repr(printed)
    segments = derivation("bcast", "pipeline", oa.LogGP(), segment_bytes="symbol")
    assert segments.total == oa.collective_cost("bcast", "pipeline", oa.LogGP(), segment_bytes="symbol").total


def test_composed_algorithms_and_nodes_have_a_story():
    decided = derivation("allreduce", "nonoverlapping", P=128)
    assert decided.total == oa.collective_cost("allreduce", "nonoverlapping", P=128).total
    parts = derivation("allreduce", "nonoverlapping", parts=("reduce:pipeline:65536", "bcast:binomial"))
    assert [p.collective for p in parts.parts] == ["reduce", "bcast"]
    assert "65536" in parts.latex()
    nodes = derivation("allreduce", "ring", oa.TwoLevel(4))
    assert nodes.total == oa.collective_cost("allreduce", "ring", oa.TwoLevel(4)).total
    assert "inside a node" in repr(nodes)


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda: derivation("allreduce", "rign"), UnknownNameError, "Did you mean 'ring'"),
        (lambda: derivation("allreduce", "ring", segments=3), UnknownNameError, "Did you mean 'segment_bytes'"),
        (lambda: derivation("allreduce", "nonoverlapping"), UnknownNameError, "name what it takes"),
        (lambda: derivation("allreduce", "ring", "hockney"), QuantityError, "closed forms are for"),
    ],
)
def test_errors_teach(call, error, told):
    with pytest.raises(error, match=told):
        call()


def test_names_shorten_and_give_the_same_back():
    long = oa.collective_cost("bcast", "binomial", oa.LogGP())
    written = write(long.terms, long.total)
    assert width(latex(written.total)) < width(sp.latex(long.total)) / 2
    seen = {symbol for symbol, _ in written.names}
    for i, (_, meaning) in enumerate(written.names):  # a name holds those before it alone
        assert not meaning.free_symbols & (seen - {symbol for symbol, _ in written.names[:i]})
    short = oa.collective_cost("allreduce", "ring")
    assert write(short.terms, short.total).names == ()


def test_no_character_of_a_sentence_breaks_latex():
    text = latex_text('50 % of a_b & c #1 {x} ~ ^ \\ 2**k, P - 2, gamma > 0, g > L + 2 o | "q" $\\alpha_1$')
    assert text == (
        r"50 \% of a\_b \& c \#1 \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{} $2^{k}$, $P - 2$, "
        r"$\gamma > 0$, $g > L + 2 o$ $|$ ''q'' $\alpha_1$"
    )
    assert html_text("a < b, P - 2 <= k") == r"a &lt; b, $P - 2 \le k$"
    assert plain_text(r"$\frac{n}{P}$ bytes, $\left(P - 1\right)$") == "n/P bytes, (P - 1)"
    assert plain_text(r"$\left\lfloor \log_2 P \right\rfloor$, a whole number") == "floor(log2 P), a whole number"


def test_sources_say_what_was_recalled():
    for collective, algorithm in EVERY:
        found = sources_of(oa.LogGP(), [(collective, algorithm)])
        assert found[0].key == "alexandrov1995"
        assert found[-1].key == "orrery-analytic"
        assert all(("After this work" in source.remark) != source.read for source in found)
    text = derivation("allreduce", "rabenseifner").bibtex
    assert text.count("{") == text.count("}")
    assert text.count("@misc{") == len(derivation("allreduce", "rabenseifner").sources)
    assert "After this work, cited from memory" in text


def test_a_document_defines_what_it_cites():
    document = derivation("allgather", "bruck").latex(document=True)
    for begin, end in itertools.pairwise((r"\documentclass", r"\begin{document}", r"\begin{thebibliography}")):
        assert document.index(begin) < document.index(end)
    assert r"\cite{bruck1997}" in document
    assert r"\bibitem{bruck1997}" in document
    assert str(n) in document
