"""The page docs/exactness.md lists what every formula claims; `python tests/test_claims.py` writes it anew."""

from pathlib import Path

import orrery_analytic as oa

PAGE = Path(__file__).resolve().parent.parent / "docs" / "exactness.md"
HEAD = """# Where each formula is exact

A closed form is *exact* where it equals, in exact arithmetic, the time of the message schedule that it stands for (all
ranks enter together, the last one leaves; blocks and segments of equal size; root 0). Elsewhere it is an upper bound,
unless its note says otherwise. `tests/test_proofs.py` holds every line against the schedules for P = 1 to 64 and some P
up to 1024, with and without reductions and with gaps that decide; `oa.verify(collective, algorithm, network)` shows the
comparison. Algorithms made of others (nonoverlapping, linear allgather, ...) are as exact as their parts.
"""

NODES = """
## On nodes

`TwoLevel(ranks_per_node, network_cards_per_node)`: ranks in blocks, cards that several ranks share. These algorithms
have a closed form; any schedule is timed exactly. `tests/test_two_level_costs.py` holds every line against the
schedules. With one rank a node, all formulas hold as under Hockney.
"""


def page() -> str:
    lines = [HEAD]
    for collective, rows in oa.claims().groupby("collective"):
        lines += [f"\n## {collective}\n", "| algorithm | Hockney | LogGP |", "| --- | --- | --- |"]
        for row in rows.itertuples():
            same = "the same" if row.hockney == row.loggp else row.loggp
            lines.append(f"| `{row.algorithm}` | {row.hockney} | {same} |")
    lines += [NODES, "| collective | algorithm | on nodes |", "| --- | --- | --- |"]
    placed = oa.claims().query("two_level != ''")
    lines += [f"| {row.collective} | `{row.algorithm}` | {row.two_level} |" for row in placed.itertuples()]
    return "\n".join(lines) + "\n"


def test_the_page_says_what_the_formulas_say():
    assert PAGE.read_text(encoding="utf-8") == page(), "run python tests/test_claims.py"


def test_every_formula_has_a_claim_under_both_networks():
    table = oa.claims()
    assert len(table) > 50
    assert table[["hockney", "loggp"]].map(len).min().min() > 10


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
