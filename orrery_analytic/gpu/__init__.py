"""What device buffers cost: copies between device and host, the device leg (Eq. 1), the host bounce (of Eq. 2).

Equations are those of the Orrery paper (arXiv 2610.18565, section III-B). Terms come by name: d2h, h2d, gdr, peer.
"""

from __future__ import annotations

from orrery_analytic.gpu.bounce import (
    BOUNCES,
    LIBRARIES,
    RANKS,
    Bounce,
    Copies,
    bounce_copies,
    bounce_library,
    buffer_places,
    host_bounce,
)
from orrery_analytic.gpu.copies import copy_time, flag, size_bands, t_d2h, t_h2d
from orrery_analytic.gpu.fragments import BestFragment, best_fragment, fragments_time
from orrery_analytic.gpu.legs import (
    BUFFERS,
    STAGINGS,
    TRANSPORTS,
    device_leg,
    eager_leg,
    gdr_leg,
    peer_leg,
    staged_leg,
)
from orrery_analytic.gpu.pieces import Terms, by_size, joined, size_option
from orrery_analytic.gpu.pipeline import (
    Stage,
    fragment_threshold,
    optimal_fragment,
    pipeline_stages,
    pipeline_time,
    pipelined_terms,
)

__all__ = [
    "BOUNCES",
    "BUFFERS",
    "LIBRARIES",
    "RANKS",
    "STAGINGS",
    "TRANSPORTS",
    "BestFragment",
    "Bounce",
    "Copies",
    "Stage",
    "Terms",
    "best_fragment",
    "bounce_copies",
    "bounce_library",
    "buffer_places",
    "by_size",
    "copy_time",
    "device_leg",
    "eager_leg",
    "flag",
    "fragment_threshold",
    "fragments_time",
    "gdr_leg",
    "host_bounce",
    "joined",
    "optimal_fragment",
    "peer_leg",
    "pipeline_time",
    "pipelined_terms",
    "size_bands",
    "size_option",
    "staged_leg",
    "pipeline_stages",
    "t_d2h",
    "t_h2d",
]
