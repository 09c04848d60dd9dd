"""The wheel that users install: made from the sdist, it finds its machine files and runs the README's example."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import orrery_analytic as oa

ROOT = Path(__file__).resolve().parent.parent


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    """Run a command to its end; what it printed, or a failure that shows everything."""
    done = subprocess.run(command, cwd=cwd, env=os.environ | variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(kind: str, source: Path, target: Path) -> Path:
    """Build with the installed hatchling: no build isolation, so no network."""
    run(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", target, cwd=source)
    (made,) = target.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    archive = build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))
    unpacked = tmp_path_factory.mktemp("source")
    with tarfile.open(archive) as tar:
        tar.extractall(unpacked, filter="data")
    (source,) = unpacked.iterdir()
    return build("wheel", source, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
    run(*pip, "--no-deps", "--no-index", "--no-compile", "--target", target, wheel, cwd=target)
    return target


def python(code: str, installed: Path, cwd: Path) -> str:
    return run(sys.executable, "-W", "error", "-c", code, cwd=cwd, PYTHONPATH=str(installed))


def readme_example() -> tuple[str, str]:
    """The first Python block of the README, and the text block after it: what the example prints."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"^```python\n(.*?)^```$.*?^```text\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    assert found, "README.md holds no ```python block with a ```text block after it"
    return found[1], found[2]


def test_wheel_holds_machines_and_types(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    machines = {f"orrery_analytic/_machines/{path.name}" for path in (ROOT / "machines").glob("*.toml")}
    assert machines
    assert machines | {"orrery_analytic/py.typed"} <= names
    assert {name.split("/")[0] for name in names} == {"orrery_analytic", f"orrery_analytic-{oa.__version__}.dist-info"}


def test_installed_elsewhere_it_finds_its_machines(installed: Path, tmp_path: Path) -> None:
    values = "oa.__file__, oa.load_machine('example').name, *oa.list_machines()"
    code = f"import orrery_analytic as oa; print({values}, sep='\\n')"
    file, name, *machines = python(code, installed, tmp_path).splitlines()
    assert Path(file).is_relative_to(installed)
    assert name == "example"
    assert set(machines) == {path.stem for path in (ROOT / "machines").glob("*.toml")}


def test_readme_example_prints_what_the_readme_shows(installed: Path, tmp_path: Path) -> None:
    code, shown = readme_example()
    assert python(code, installed, tmp_path) == shown


def test_version_is_the_same_everywhere() -> None:
    citation = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    change = re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert citation
    assert change
    assert citation[1] == change[1] == oa.__version__


def test_constraints_pin_every_dependency_by_name_and_version_alone() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line)] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = sum(project["optional-dependencies"].values(), project["dependencies"])
    pinned = {re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in pins}
    assert {re.split(r"[<>=!~[]", name)[0].lower() for name in wanted} <= pinned
