"""The order of modules, what `import orrery_analytic` may load, and that public names are found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).resolve().parent.parent
HEAVY = "scipy pandas xarray pint pydantic matplotlib ipywidgets lmfit dask networkx IPython".split()
IMPORT_EVERY_MODULE = """
import pkgutil
from importlib import import_module
import orrery_analytic as oa
for module in pkgutil.walk_packages(oa.__path__, 'orrery_analytic.'):
    if not module.name.endswith('__main__'):
        import_module(module.name)
"""


def fresh_python(code: str) -> list[str]:
    """The words that the code prints in an interpreter of its own."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_modules_import_only_from_those_before_them(capsys: pytest.CaptureFixture[str]) -> None:
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True)
    assert status == 0, capsys.readouterr().out


@pytest.mark.parametrize("use", ["", "oa.collective_cost('allreduce', 'ring'); oa.select('allreduce', 64, 4096)"])
def test_formulas_and_decisions_load_sympy_and_numpy_alone(use: str) -> None:
    code = f"import sys, orrery_analytic as oa; {use}\nprint(*(name for name in sys.modules if '.' not in name))"
    loaded = set(fresh_python(code))
    assert {"sympy", "numpy"} <= loaded
    assert loaded.isdisjoint(HEAVY), f"loaded: {sorted(loaded.intersection(HEAVY))}"


def test_public_names_are_there_whatever_was_imported_before() -> None:
    # `oa.predict` is a function of the module `predict`, which must not take its place.
    names = "*(name for name in oa.__all__ if type(getattr(oa, name)).__name__ == 'module')"
    assert fresh_python(f"{IMPORT_EVERY_MODULE}\nprint({names})") == []
