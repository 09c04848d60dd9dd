"""One MPI call, or one kernel, put together: `p2p_cost`, `collective_cost` (Eq. 2), `kernel_cost` (Eq. 3)."""

from __future__ import annotations

from orrery_analytic.calls.collective import REDUCTIONS, collective_cost
from orrery_analytic.calls.device import buffer_sizes, device_cost
from orrery_analytic.calls.kernel import kernel_cost
from orrery_analytic.calls.p2p import PROTOCOLS, WAYS, p2p_cost
from orrery_analytic.calls.worth import Threshold, bounce_threshold, by_hand_cost, staging_threshold

__all__ = [
    "PROTOCOLS",
    "REDUCTIONS",
    "WAYS",
    "Threshold",
    "bounce_threshold",
    "buffer_sizes",
    "by_hand_cost",
    "collective_cost",
    "device_cost",
    "kernel_cost",
    "p2p_cost",
    "staging_threshold",
]
