"""Plain sentences with small formulas in them ("rank - 2**k", "gamma > 0", "20 % high"), set in LaTeX and in HTML.

A part between two dollar signs is LaTeX already and stays as it is; all other characters that LaTeX would trip over are
escaped.
"""

from __future__ import annotations

import html
import re

__all__ = ["html_text", "latex_text", "plain_text"]

_GREEK = "alpha|beta|gamma"
_POWER = r"\d+\*\*(?:floor\(log2 [A-Z]\)|\w+)"
_ATOM = rf"(?:{_POWER}|floor\(log2 [A-Z]\)|n_s|rank|(?:\d+ )?(?:{_GREEK}|[PRLMGgokndAvr])(?!\w)|\d+(?!\w))"
_OPERATOR = r" (?:<=|>=|[-+<>=/]) "
_ALONE = rf"(?:{_POWER}|n_s|{_GREEK}|[PRMnk](?!\w))"
_FORMULA = re.compile(rf"(?<![\w$.*\\])(?:{_ATOM}(?:{_OPERATOR}{_ATOM})+|{_ALONE})(?![\w*])")
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "^": r"\textasciicircum{}",
    "_": r"\_", "%": r"\%", "~": r"\textasciitilde{}", "<": "$<$", ">": "$>$", "|": "$|$", '"': "''",
}  # fmt: skip
_RELATIONS = {" <= ": r" \le ", " >= ": r" \ge "}


def _formula(match: re.Match[str]) -> str:
    """Return a formula of plain text as LaTeX between dollar signs."""
    text = match.group()
    for plain, command in _RELATIONS.items():
        text = text.replace(plain, command)
    text = re.sub(r"floor\(log2 ([A-Z])\)", r"\\lfloor \\log_2 \1 \\rfloor", text)
    text = re.sub(r"(\d+)\*\*(\\lfloor .*? \\rfloor|\w+)", r"\1^{\2}", text)
    text = re.sub(rf"\b({_GREEK})\b", r"\\\1", text)
    text = text.replace("rank", r"\text{rank}")
    return f"${text}$"


def _parts(text: str) -> list[tuple[bool, str]]:
    """Return (is a formula, part) of a sentence, formulas without their dollar signs."""
    marked = "".join(
        part if i % 2 else _FORMULA.sub(_formula, part) for i, part in enumerate(re.split(r"(\$[^$]*\$)", text))
    )
    return [(i % 2 == 1, part.strip("$")) for i, part in enumerate(re.split(r"(\$[^$]*\$)", marked))]


def latex_text(text: str) -> str:
    """Return a sentence as LaTeX."""
    return "".join(
        f"${part}$" if formula else "".join(_SPECIAL.get(c, c) for c in part) for formula, part in _parts(text)
    )


def html_text(text: str) -> str:
    """Return a sentence as HTML whose formulas MathJax sets."""
    return "".join(f"${html.escape(part)}$" if formula else html.escape(part) for formula, part in _parts(text))


def plain_text(text: str) -> str:
    """Return a sentence, or a part of a formula, as characters alone."""
    text = text.replace(r"\underline{\ell}", "fl").replace(r"\overline{\ell}", "cl").replace("$", "")
    text = re.sub(r"\\left\\l(floor|ceil) (.*?) \\right\\r\1", r"\1(\2)", text).replace("log_2", "log2")
    text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2", text)
    text = re.sub(r"\\(?:left|right|text|mathrm|operatorname)(?![a-z])", "", text).replace(r"\ldots", "...")
    text = re.sub(r"\^\{([^{}]*)\}", r"**(\1)", re.sub(r"\\([a-z]+)", r"\1", text))
    return text.replace("{", "").replace("}", "")
