"""Exact integer logarithms, and one description for every symbol."""

import re
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

import orrery_analytic as oa
from orrery_analytic.errors import QuantityError, UnknownNameError
from orrery_analytic.symbols import COPIES, SYMBOLS, P, band_symbols, log2_ceil, log2_floor, log_floor, max_popcount
from orrery_analytic.symbols.printing import latex

EDGES = sorted({2**k + d for k in range(1, 63) for d in (-1, 0, 1) if 2**k + d <= 2**62} | {1})


def test_log2_is_exact_at_every_edge_up_to_2_to_the_62():
    array = np.array(EDGES)
    assert log2_floor(array).tolist() == [p.bit_length() - 1 for p in EDGES]
    assert log2_ceil(array).tolist() == [(p - 1).bit_length() for p in EDGES]
    for p in EDGES:
        assert log2_floor(p) == p.bit_length() - 1
        assert log2_ceil(p) == (p - 1).bit_length()


@given(st.integers(1, 2**62))
def test_log2_is_exact_everywhere(p):
    assert int(log2_floor(p)) == int(oa.log2_floor(np.array([p]))[0]) == p.bit_length() - 1
    assert int(log2_ceil(p)) == int(oa.log2_ceil(np.array([p]))[0]) == (p - 1).bit_length()


def test_a_power_of_two_simplifies():
    k = sp.Symbol("k", integer=True, nonnegative=True)
    assert (2 ** log2_floor(P)).subs(P, 2**k) == 2**k
    assert log2_ceil(2**k) == k
    assert 2 ** log2_floor(64) == 64


def test_lambdified_logarithms_need_no_extra_modules():
    f = sp.lambdify(P, 2 ** -log2_floor(P) + log2_ceil(P), "numpy")
    assert f(np.array([1, 5, 8])).tolist() == [1.0, 3.25, 3.125]


def test_no_float_logarithm_where_it_is_wrong():
    # ceil(log(2**29) / log(2)) is 30 in double precision.
    assert np.ceil(np.log(2**29) / np.log(2)) == 30
    assert log2_ceil(2**29) == 29


def test_ranks_are_whole():
    with pytest.raises(QuantityError, match=r"whole number.*2\.5"):
        log2_floor(np.array([2.5]))


@pytest.mark.parametrize("base", [2, 3, 4, 10])
def test_log_floor_counts_digits(base):
    values = range(1, 1100)
    truth = [max(k for k in range(12) if base**k <= x) for x in values]
    assert [int(log_floor(x, base)) for x in values] == truth
    assert log_floor._imp_(np.array(values, dtype=float), base).tolist() == truth if base > 2 else True


def test_max_popcount_is_the_largest_number_of_set_bits():
    for p in range(2, 600):
        top = 1 << ((p - 1).bit_length() - 1)
        truth = max(v.bit_count() for v in range(top, p))
        assert max_popcount(p) == truth
        assert max_popcount(np.array([p]))[0] == truth
    assert max_popcount(1) == 0


def test_latex_of_the_logarithms():
    assert sp.latex(log2_floor(P)) == r"\left\lfloor \log_2 P \right\rfloor"
    assert sp.latex(log2_ceil(P - 1) ** 2) == r"\left\lceil \log_2 \left(P - 1\right) \right\rceil^{2}"


def test_every_symbol_is_described_under_its_name():
    for name, info in SYMBOLS.items():
        assert oa.describe(name).symbol.name == name
        assert info.unit in {"1", "s", "B", "s/B", "B/s", "flop", "flop/s"}
        assert info.meaning


def test_bands_have_symbols_of_their_own():
    (first, per_byte, limit), (_, _, none) = band_symbols("d2h", 2)
    assert [s.name for s in (first, per_byte, limit)] == ["alpha_d2h_1", "beta_d2h_1", "s_d2h_1"]
    assert none is None
    assert oa.describe("s_d2h_1").unit == "B"


def test_an_unknown_symbol_names_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'alpha'"):
        oa.describe("alhpa")


SYMPY_GUESSES = r"\\(?:hat|bar|vec|dot|ddot|tilde|check|acute|grave|breve|mathring|prime|mathbf|mathcal)\b"


def test_names_are_printed_as_they_stand_and_words_upright():
    bands = [symbol for copy in COPIES for row in band_symbols(copy, 2) for symbol in row if symbol is not None]
    for symbol in [*(info.symbol for info in SYMBOLS.values()), *bands]:
        text = latex(symbol)
        assert not re.search(SYMPY_GUESSES, text), text
        words = re.sub(r"\\(?:mathrm|operatorname)\{[^}]*\}", "", text).replace("\\", " ").split("_")
        assert all(len(word.strip("{}")) <= 1 for word in words[1:]), text
    assert latex(SYMBOLS["nccheck"].symbol) == r"\operatorname{nccheck}"
    assert latex(SYMBOLS["alpha_pinned_d2h"].symbol) == r"\alpha_{\mathrm{pinned,d2h}}"
    assert latex(band_symbols("d2h", 2)[0][2]) == r"s_{\mathrm{d2h,1}}"
    assert latex(SYMBOLS["n_s"].symbol ** 2) == "n_{s}^{2}"
    assert latex(sp.Symbol("beta2") + sp.Symbol("Gamma")) == r"\Gamma + \beta_{2}"
    assert latex(sp.Symbol("x_hat")) == r"x_{\mathrm{hat}}"


def test_no_module_lets_sympy_guess():
    package = Path(oa.__file__).parent
    guessing = re.compile(r"\bsp\.latex\b|sympy import latex")
    assert [file.name for file in package.rglob("*.py") if guessing.search(file.read_text())] == []
