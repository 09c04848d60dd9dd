"""Machine files: what the symbols of the formulas are worth on one computer, with units and provenance.

A machine file is TOML. Every value says where it comes from::

    name = "example"
    description = "..."

    [latency]
    value = "1 us"
    origin = "assumed"          # measured, vendor, derived or assumed
    reference = "round number for teaching"

`MACHINE_KEYS` lists the keys. The copies between device and host may have bands of sizes instead of one latency and one
bandwidth: ``d2h_bands`` and its like, a list of ``{up_to, latency, bandwidth}`` whose last has no ``up_to``.
"""

from __future__ import annotations

from orrery_analytic.machines.files import list_machines, load_machine
from orrery_analytic.machines.keys import MACHINE_KEYS, KeyInfo
from orrery_analytic.machines.machine import Machine
from orrery_analytic.machines.records import Band, Record

__all__ = ["MACHINE_KEYS", "Band", "KeyInfo", "Machine", "Record", "list_machines", "load_machine"]
