"""From nothing: what `import orrery_analytic` takes, and `oa.explore` to its first picture. `make bench` times both."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

IMPORT = "import orrery_analytic"
FIRST_PICTURE = f"{IMPORT} as oa; assert bytes(oa.explore().curves_image.value)[1:4] == b'PNG'"


@pytest.mark.benchmark(group="a fresh interpreter")
@pytest.mark.parametrize(
    "code", ["import numpy, sympy", IMPORT, FIRST_PICTURE], ids=["numpy, sympy", "import", "picture"]
)
def test_fresh_interpreter(benchmark: Any, code: str) -> None:
    def run() -> int:
        return subprocess.run([sys.executable, "-c", code], check=True).returncode

    assert benchmark.pedantic(run, rounds=5) == 0
