"""`derive`: closed forms found from schedules, held against what is known, and refused where there is none."""

import math
import random
from fractions import Fraction as F

import pytest
import sympy as sp

import orrery_analytic as oa
from orrery_analytic.algebra import BASIS, derive
from orrery_analytic.algebra.from_schedules.closed_forms import ranges
from orrery_analytic.algebra.from_schedules.fronts import largest, symbolic_time
from orrery_analytic.algebra.from_schedules.identify import combine
from orrery_analytic.errors import QuantityError, ScheduleError
from orrery_analytic.schedules.operations import exchange, recv, reduce, send
from orrery_analytic.symbols import P, alpha, beta, gamma, log2_ceil, log2_floor, n

fl, cl = log2_floor(P), log2_ceil(P)
POWERS = [2**k for k in range(1, 9)]


def even(p):
    """The least number of elements that p ranks, and halvings, divide evenly."""
    return math.lcm(p, 2 << (p.bit_length() - 1))


def of_ours(collective, algorithm, **given):
    """Derive one of the package's algorithms, for elements of one byte."""
    if collective in ("allreduce", "bcast", "reduce", "scan", "exscan"):
        count = size = even
    else:
        count, size = (lambda p: 1), (lambda p: p if collective == "reduce_scatter" else 1)
    return derive(lambda p: oa.schedule(collective, algorithm, p, count(p), itemsize=1), n=size, **given)


def same(a, b):
    return sp.expand(a - b) == 0


LINEAR = (P - 1) * (alpha + n * beta)
OURS = {
    ("allgather", "ring"): LINEAR,
    ("allgather", "bruck"): cl * alpha + (P - 1) * n * beta,
    ("allgather", "recursive_doubling"): cl * alpha + (P - 1) * n * beta,  # runs Bruck unless P is a power of two
    ("allreduce", "ring"): 2 * (P - 1) * alpha + (P - 1) / P * n * (2 * beta + gamma),
    ("allreduce", "recursive_doubling"): (2 * cl - fl) * (alpha + n * beta) + cl * n * gamma,
    ("allreduce", "rabenseifner"): (3 * cl - fl) * alpha
    + 2 * (cl - fl + 1 - 2**-fl) * n * beta
    + ((cl - fl) / 2 + 1 - 2**-fl) * n * gamma,
    ("bcast", "basic_linear"): LINEAR,
    ("bcast", "binomial"): cl * (alpha + n * beta),
    ("bcast", "chain"): LINEAR,
    ("reduce", "linear"): LINEAR + (P - 1) * n * gamma,
    ("gather", "basic_linear"): LINEAR,
    ("gather", "binomial"): cl * alpha + (P - 1) * n * beta,
    ("scatter", "binomial"): cl * alpha + (P - 1) * n * beta,
    ("exscan", "linear"): LINEAR + (P - 2) * n * gamma,
    ("barrier", "linear"): 2 * (P - 1) * alpha,
    ("barrier", "recursive_doubling"): (2 * cl - fl) * alpha,
    ("barrier", "bruck"): cl * alpha,
    ("barrier", "tree"): 2 * cl * alpha,
}  # fmt: skip


@pytest.mark.parametrize(("collective", "algorithm"), OURS)
def test_ours_are_identified(collective, algorithm):
    found = of_ours(collective, algorithm)
    assert same(found.formula.total, OURS[collective, algorithm])
    assert set(found.formula.terms) <= {"latency", "bandwidth", "reduce"}
    known = oa.collective_cost(collective, algorithm)
    assert all(
        same(known.terms.get(name, 0), found.formula.terms.get(name, 0)) for name in ("latency", "bandwidth", "reduce")
    )
    assert {63, 64, 65} <= set(found.checked)
    assert len(found.checked) >= len(found.fitted) >= 2 * len(BASIS)
    assert not set(found.checked) & set(found.fitted)
    beyond = 67  # neither fitted nor checked
    count = even(beyond)
    nbytes = {"allreduce": count, "bcast": count, "reduce": count, "exscan": count}.get(collective, 1)
    schedule = oa.schedule(collective, algorithm, beyond, nbytes, itemsize=1)
    given = {alpha: 7, beta: 3, gamma: 5, n: nbytes, P: beyond}
    values = {"alpha": F(7), "beta": F(3), "gamma": F(5)}
    assert found.formula.total.subs(given) == schedule.time(oa.Hockney(), **values)


def test_parity_needs_a_basis_that_knows_it_or_even_numbers():
    with pytest.raises(ScheduleError, match=r"latency .* first P that disagrees is"):
        of_ours("allgather", "neighbor")
    odd = sp.Mod(P, 2)
    found = of_ours("allgather", "neighbor", basis=(1, P, odd, P * odd))
    assert same(found.formula.total, oa.collective_cost("allgather", "neighbor").total)
    found = of_ours("allgather", "neighbor", basis=(1, P), P=range(2, 30, 2))
    assert same(found.formula.terms["latency"], P / 2 * alpha)
    assert found.fitted == (2, 4, 6, 8, 10, 12, 14)
    assert found.checked == (16, 18, 20, 22, 24, 26, 28)


def test_powers_of_two_alone():
    found = of_ours("allreduce", "recursive_doubling", basis=(1, fl), P=POWERS)
    assert same(found.formula.total, fl * (alpha + n * beta + n * gamma))
    found = of_ours("alltoall", "modified_bruck", basis=(fl, P * fl), P=POWERS)
    assert same(found.formula.total, fl * alpha + P * fl / 2 * n * beta)


def test_where_the_time_is_a_maximum_each_sum_is_identified():
    # The root combines one child's data while those of the last arrive.
    found = of_ours("reduce", "binomial")
    whole = sp.Max(cl * (alpha + n * beta) + fl * n * gamma, fl * (alpha + n * beta) + cl * n * gamma)
    assert len(found.pieces) == 2
    assert found.formula.terms["latency"] == cl * alpha
    assert found.formula.terms["bandwidth"] == cl * n * beta
    for p in (3, 8, 12, 100):
        schedule = oa.schedule("reduce", "binomial", p, 8, itemsize=1)
        for a, b, c in [(7, 3, 5), (7, 3, 0), (1, 1, 50)]:
            given = {alpha: a, beta: b, gamma: c, n: 8, P: p}
            true = schedule.time(oa.Hockney(), alpha=a, beta=b, gamma=c)
            assert found.formula.total.subs(given) == whole.subs(given) == true
            assert found.formula(P=p, n=8, alpha=a, beta=b, gamma=c) == true
    assert "latency (2)" in found._repr_html_()


def apart(p):
    """A message of 2 n bytes and, beside it, a chain of p - 3 messages of n / p bytes."""
    program = {0: [send(1, F(2))], 1: [recv(0, F(2))]}
    for rank in range(2, p):
        before = [recv(rank - 1, F(1, p))] if rank > 2 else []
        program[rank] = before + ([send(rank + 1, F(1, p))] if rank < p - 1 else [])
    return oa.Schedule(p, lambda rank: iter(program[rank]))


def test_a_sum_may_be_hidden_at_some_p():
    # Below P = 5 the chain has at most one message and never decides; so more P are needed than by default.
    with pytest.raises(ScheduleError, match="first P that disagrees"):
        derive(apart, n=1)
    found = derive(apart, n=1, basis=(1, P, 1 / P), P=range(2, 40))
    assert len(found.pieces) == 2
    assert [len(piece["bandwidth"]) for piece in found.coefficients] == [2, 1]
    assert found.formula(P=20, n=100.0, alpha=1.0, beta=1e-9) == pytest.approx(17 + 17 * 5e-9)
    assert found.formula(P=20, n=100.0, alpha=1e-9, beta=1.0) == pytest.approx(200.0)


def gossip(p):
    """A user's own allreduce: whole vectors to distances 1, 2, 4 ..., and a correction if p is no power of two."""

    def program(rank):
        rounds = (p - 1).bit_length()
        for i in range(rounds):
            yield exchange((rank + 2**i) % p, 60, (rank - 2**i) % p, 60, i)
            yield reduce(30, i)
        extra = p - 2 ** (p.bit_length() - 1)
        if extra:
            yield exchange((rank + 1) % p, extra * 60, (rank - 1) % p, extra * 60, rounds)

    return oa.Schedule(p, program)


def test_a_users_own_algorithm_gets_its_formula():
    found = derive(gossip, n=60)
    assert same(found.formula.terms["latency"], (2 * cl - fl) * alpha)
    assert same(found.formula.terms["bandwidth"], (cl + P - 2**fl) * n * beta)
    assert same(found.formula.terms["reduce"], cl / 2 * n * gamma)
    assert found.coefficients[0]["reduce"] == {cl: F(1, 2)}
    assert found.formula(P=1, n=60, alpha=1, beta=1, gamma=1) == 0


def test_the_result_prints_itself():
    found = of_ours("allreduce", "ring")
    text = repr(found)
    assert "latency         2*alpha*(P - 1)" in text
    assert "exact under Hockney on P = 2 to 37, 63 to 65 (fitted on 2 to 19, checked on the others)" in text
    assert "basis: 1, P, log2_floor(P)" in text
    assert found.latex() == oa.collective_cost("allreduce", "ring").latex()
    assert found._repr_latex_().startswith(r"$\displaystyle T = \underbrace{")
    page = found._repr_html_()
    assert page.count("<table>") == page.count("</table>") == 2
    assert "<td>-2</td>" in page
    assert ranges([2, 3, 4, 7, 9, 10]) == "2 to 4, 7, 9, 10"


def chaos(p):
    """Messages between random ranks, of random sizes."""
    draw = random.Random(p)
    programs = [[] for _ in range(p)]
    for _ in range(3 * p):
        a, b = draw.sample(range(p), 2)
        nbytes = draw.randrange(1, 1000)
        programs[a].append(send(b, nbytes))
        programs[b] += [recv(a, nbytes), reduce(draw.randrange(3) * nbytes)]
    return oa.Schedule(p, lambda rank: iter(programs[rank]))


def test_a_random_schedule_is_refused():
    with pytest.raises(ScheduleError, match="first P that disagrees is"):
        derive(chaos, n=1)

    def one_message(p):  # of a random size: nine functions hold the first nine P, whatever it is
        nbytes = random.Random(p).randrange(1, 9)
        programs = {0: [send(1, nbytes)], 1: [recv(0, nbytes)]}
        return oa.Schedule(p, lambda rank: iter(programs.get(rank, [])))

    with pytest.raises(ScheduleError, match=r"bandwidth .* first P that disagrees is 1\d, where it takes 1 alpha \+ "):
        derive(one_message, n=1)


def test_a_formula_that_fails_later_is_refused():
    def turns(p):  # another algorithm from P = 32 on
        return oa.schedule("allgather", "ring" if p < 32 else "bruck", p, 1, 1)

    with pytest.raises(ScheduleError, match=r"found on P = 2 to 19 gives 31 alpha .* at P = 32.* takes 5 alpha"):
        derive(turns, n=1)
    assert same(derive(turns, n=1, basis=(1, P), P=range(2, 20)).formula.total, LINEAR)


def test_a_time_with_ever_more_sums_is_refused():
    def many(p):  # chains of k messages of (p - k) ** 3 bytes each, side by side
        programs = [[] for _ in range(p)]
        for k in range(1, p // 2):
            for _ in range(k):
                programs[2 * k].append(send(2 * k + 1, (p - k) ** 3))
                programs[2 * k + 1].append(recv(2 * k, (p - k) ** 3))
        return oa.Schedule(p, lambda rank: iter(programs[rank]))

    with pytest.raises(
        ScheduleError, match=r"cannot be matched from P to P: the first P that disagrees is 8, where it"
    ):
        derive(many, n=1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "say for which message size n"),
        ({"n": 0}, "n must be a whole number of bytes"),
        ({"n": lambda p: p / 2}, "n must be a whole number of bytes"),
        ({"n": 1, "P": range(2, 10)}, "8 P were given for 9 basis functions. Allowed: at least 36"),
        ({"n": 1, "P": [1, 2]}, "at least 2, but 1 was given"),
        ({"n": 1, "basis": ()}, "empty basis"),
        ({"n": 1, "basis": ("P",)}, "made of SymPy expressions in P"),
        ({"n": 1, "basis": (n * P,)}, "holds n. Allowed: P alone"),
        ({"n": 1, "basis": (sp.log(P),)}, r"log\(P\) is log\(2\) at P = 2"),
    ],
)  # fmt: skip
def test_wrong_arguments_say_what_is_wrong(given, message):
    with pytest.raises(QuantityError, match=message):
        derive(lambda p: oa.schedule("allgather", "ring", p, 1, 1), **given)


def test_wrong_schedules_say_at_which_p():
    with pytest.raises(QuantityError, match="must return a Schedule, but returned 2"):
        derive(lambda p: p)
    with pytest.raises(QuantityError, match="returned one on 4 at P = 2"):
        derive(lambda p: oa.schedule("barrier", "bruck", 4))
    with pytest.raises(ScheduleError, match="at P = 2: the schedule deadlocks"):
        derive(lambda p: oa.Schedule(p, lambda rank: iter([recv((rank + 1) % p, 1)])), n=1)
    with pytest.raises(QuantityError, match="whole numbers or Fractions"):
        derive(lambda p: oa.Schedule(p, lambda rank: iter([exchange(1 - rank, 0.5, 1 - rank, 0.5)] * (p == 2))), n=1)


def test_a_symbol_of_the_users_own_named_p_will_do():
    own = sp.Symbol("P")
    assert same(derive(lambda p: oa.schedule("allgather", "ring", p, 1, 1), n=1, basis=(own, 1)).formula.total, LINEAR)


def test_symbolic_times_are_those_of_the_engine_with_numbers():
    for p in (5, 8, 13):
        for schedule in (chaos(p), oa.schedule("reduce", "binary", p, 24, 1, segment_bytes=8)):
            vectors = symbolic_time(schedule)
            for a, b, c in [(1000, 1, 0), (1, 1, 1), (3, 0, 7), (0, 1, 9), (50, 2, 3)]:
                true = schedule.time(oa.Hockney(), alpha=a, beta=b, gamma=c)
                assert max(u * a + v * b + w * c for u, v, w in vectors) == true


def test_what_never_decides_is_left_away():
    assert largest({(1, 2, 3), (1, 2, 2), (0, 9, 0)}) == ((1, 2, 3), (0, 9, 0))
    # (2, 2, 1) lies below the middle of its neighbours; (2, 3, 1) does not.
    assert largest({(3, 0, 1), (2, 2, 1), (1, 4, 1)}) == ((3, 0, 1), (1, 4, 1))
    assert largest({(3, 0, 1), (2, 3, 1), (1, 4, 1)}) == ((3, 0, 1), (2, 3, 1), (1, 4, 1))
    assert largest({(6, 6, 3), (5, 5, 4), (4, 4, 5), (3, 3, 6)}) == ((6, 6, 3), (3, 3, 6))


def test_exact_coefficients():
    table = {p: [F(1), F(p), F(p, 2)] for p in (2, 3, 4)}  # the third function is half the second
    assert combine(table, {2: F(5), 3: F(7), 4: F(9)}) == ([F(1), F(2), F(0)], None)
    assert combine(table, {2: F(5), 3: F(7), 4: F(10)}) == ([F(1), F(2), F(0)], 4)
