"""What a call on device buffers costs more than on host buffers: GPUDirect RDMA at both ends, and the call itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from orrery_analytic.calibration.bounce import common_sizes, same_call
from orrery_analytic.calibration.fitted import Fit
from orrery_analytic.calibration.linear import Floats
from orrery_analytic.calibration.result import Given
from orrery_analytic.calibration.solve import Column, solve, source_of
from orrery_analytic.errors import QuantityError
from orrery_analytic.gpu import bounce_copies, bounce_library
from orrery_analytic.units import to_si

__all__ = ["call"]


def call(table: Any, gdr_latency: Any = None, library: str = "openmpi-4.1") -> Fit:
    r"""Return what device buffers add to a call that copies none of them to the host.

    Of a latency test :math:`T_{device} - T_{host} = 2 \alpha_{gdr} + 2 n \beta_{gdr}`: two ends, one buffer each. Of a
    collective :math:`T_{device} - T_{host} = t_{call} + 2 \alpha_{gdr} + b n`, with alpha_gdr known from the latency
    test; b, in seconds a byte of n, is what all its messages together cost more, and goes into no machine file.

    Parameters
    ----------
    table : (device, host)
        Times of the same test on the same ranks.
    gdr_latency : text or number, optional
        alpha_gdr, for a collective; unless given it is 0, and t_call holds it twice.
    library : str
        As in `bounce_copies`; a latency test does not depend on it.

    Raises
    ------
    UnknownNameError
        If there is no such library.
    QuantityError
        If the tables are of two collectives or numbers of ranks, or the library copies the buffers of that collective
        to the host: `fit_bounce` is for those.

    Source: Eqs. 1 and 2 and Table I of the Orrery paper.
    """
    if not isinstance(table, tuple | list) or len(table) != 2:
        raise QuantityError("model 'call' takes two tables, (device, host), of the same test.")
    device, host = table
    bounce_library(library)
    slow, fast, notes = common_sizes(device, host, ("device", "host"))
    same_call(slow, fast)
    known: Floats = fast["seconds"].to_numpy(dtype=float)
    n: Floats = slow["n"].to_numpy(dtype=float)
    source = f"device: {source_of(slow)}; host: {source_of(fast)}"
    names = slow["collective"].dropna() if "collective" in slow.columns else slow["n"][:0]
    name = str(names.iloc[0]) if len(names) else "p2p"
    ends = 2 * to_si(0 if gdr_latency is None else gdr_latency, "s", "gdr_latency")
    if name == "p2p":
        if gdr_latency is not None:
            raise QuantityError("gdr_latency= is for a collective: of a latency test it is what is fitted.")
        columns = [Column("alpha_gdr", "s", np.full(len(n), 2.0)), Column("beta_gdr", "s/B", 2 * n)]
        gives = {"gdr_latency": Given("alpha_gdr"), "gdr_gap_per_byte": Given("beta_gdr")}
    else:
        if bounce_copies(name, library) is not None:
            raise QuantityError(
                f"{library} copies the buffers of {name} to the host, and the call cannot be told from the latency of "
                "these copies. Allowed: fit_bounce, or a collective without a reduction."
            )
        columns = [Column("t_call", "s", np.ones(len(n))), Column("b", "s/B", n)]
        gives = {"call_overhead": Given("t_call", derived=True)}
        if gdr_latency is None:
            notes.append("no gdr_latency= was given: t_call holds the latency of GPUDirect RDMA of both ends.")
        known = known + ends
    less = int((slow["seconds"].to_numpy() <= known).sum())
    if less:
        notes.append(
            f"at {less} of {len(slow)} sizes the device buffers are not slower: no cost of the call shows there."
        )
    return solve("call", columns, slow, offset=known, trim=False, notes=notes, gives=gives, source=source)
