"""``python -m orrery_analytic.probe``."""

from __future__ import annotations

import sys

from orrery_analytic.probe.command import main

sys.exit(main())
