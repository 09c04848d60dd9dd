"""Settings of Sphinx: `make docs` runs it on the pages that pages.py has put together."""

import re
from importlib.metadata import distribution
from pathlib import Path

import orrery_analytic

project = "orrery_analytic"
author = copyright = "orrery_analytic developers"
release = orrery_analytic.__version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]

# Docstrings name arguments and functions in single backticks: a link where there is such a name on a page.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "none"
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
# Outputs of notebooks hold formulas too.
myst_mathjax_classes = "tex2jax_process|mathjax_process|math|output"
# Notebooks are shown as they are stored; of an explorer, its picture.
nb_execution_mode = "off"
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]

pygments_dark_style = "monokai"
html_theme = "furo"
html_title = "orrery_analytic"
html_copy_source = False
html_show_copyright = False

# One file beside the pages, so that they can be read from a folder, without a network.
_mathjax = distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline/static/mathjax/tex-svg.js")
html_static_path = [str(Path(__file__).parent / "_static"), str(_mathjax)]
html_css_files = ["site.css"]
mathjax_path = "tex-svg.js"
# Tables of the package hold formulas between dollars.
mathjax3_config = {"tex": {"inlineMath": [["\\(", "\\)"], ["$", "$"]]}}


_LISTS = ("Attributes", "Parameters", "Raises", "Returns", "Warns")


def prepare(app, what, name, obj, options, lines):
    """Make what docstrings say after their last list ("Source: ...") a note, and "two_level_" no link."""
    section, out = "", []
    for before, line, after in zip(["", *lines], lines, [*lines[1:], ""], strict=False):
        if line and set(after) == {"-"}:
            section = line
        elif section in _LISTS and not before and line and not line.startswith(" ") and not after.startswith("    "):
            section = "Notes"
            out += ["Notes", "-----"]
        out.append(re.sub(r'(?<=\w)_(?=")', r"\_", line))
    lines[:] = out


def setup(app):
    """Come before napoleon, which takes the lists of a docstring apart."""
    app.connect("autodoc-process-docstring", prepare, priority=400)
