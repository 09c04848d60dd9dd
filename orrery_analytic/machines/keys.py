"""The keys of a machine file: what each is, its unit, and the symbol of the formulas that it gives a number to."""

from __future__ import annotations

from dataclasses import dataclass

from orrery_analytic.symbols import COPIES

__all__ = ["BAND_KEYS", "COPIES", "MACHINE_KEYS", "ORIGINS", "KeyInfo"]

ORIGINS = ("measured", "vendor", "derived", "assumed")
BAND_KEYS = {"up_to": "B", "latency": "s", "bandwidth": "B/s"}


@dataclass(frozen=True)
class KeyInfo:
    """One key of a machine file.

    Attributes
    ----------
    key
        Its name in the file and in `Machine.replace`.
    unit
        SI unit of its value: "s", "B", "B/s", "s/B", "flop/s", or "1" for a whole number.
    symbol
        Name of the symbol in `Machine.parameters`, or None. A bandwidth 1/beta of the file is a time a byte, beta, in
        the formulas.
    meaning
        What it is, in words.
    required
        Whether every machine file must have it.
    """

    key: str
    unit: str
    symbol: str | None
    meaning: str
    required: bool = True

    @property
    def inverse(self) -> bool:
        """Whether the symbol is one over the value."""
        return self.unit == "B/s" and self.symbol not in ("R", "R_mem")


MACHINE_KEYS: dict[str, KeyInfo] = {
    info.key: info
    for info in (
        KeyInfo("latency", "s", "alpha", "latency of a message between nodes"),
        KeyInfo("bandwidth", "B/s", "beta", "bandwidth of a message between nodes, one direction"),
        KeyInfo("intra_latency", "s", "alpha_intra", "latency of a message inside a node", required=False),
        KeyInfo("intra_bandwidth", "B/s", "beta_intra", "bandwidth of a message inside a node", required=False),
        KeyInfo("wire_latency", "s", "L", "LogGP L, latency of the wire", required=False),
        KeyInfo("overhead", "s", "o", "LogGP o, time of the processor at each end of a message", required=False),
        KeyInfo("message_gap", "s", "g", "LogGP g, gap between messages of one rank", required=False),
        KeyInfo("gap_per_byte", "s/B", "G", "LogGP G, gap a byte of a long message", required=False),
        KeyInfo("reduction_rate", "B/s", "gamma", "bytes that a host process reduces in a second"),
        KeyInfo("call_overhead", "s", "t_call", "cost of the library for a call on device buffers"),
        KeyInfo("gdr_latency", "s", "alpha_gdr", "cost of GPUDirect RDMA for a device buffer"),
        KeyInfo("peer_latency", "s", "alpha_peer", "latency of a copy between two GPUs of a node"),
        KeyInfo("peer_bandwidth", "B/s", "beta_peer", "bandwidth of a copy between two GPUs of a node"),
        KeyInfo("eager_limit", "B", "s_rndv", "largest message that is sent eagerly", required=False),
        KeyInfo("rendezvous_latency", "s", "alpha_rndv", "handshake of the rendezvous", required=False),
        KeyInfo(
            "eager_copy_bandwidth",
            "B/s",
            "beta_eager",
            "bandwidth between a device buffer and the library's own, for eager messages",
            required=False,
        ),
        KeyInfo(
            "gdr_gap_per_byte",
            "s/B",
            "beta_gdr",
            "what a byte of a device buffer costs more by GPUDirect RDMA than from the host",
            required=False,
        ),
        KeyInfo("gdr_limit", "B", "s_gdr", "largest device buffer that goes by GPUDirect RDMA", required=False),
        KeyInfo("d2h_latency", "s", "alpha_d2h", "latency of a copy from the device to the host"),
        KeyInfo("d2h_bandwidth", "B/s", "beta_d2h", "bandwidth of a copy from the device to the host"),
        KeyInfo("h2d_latency", "s", "alpha_h2d", "latency of a copy from the host to the device"),
        KeyInfo("h2d_bandwidth", "B/s", "beta_h2d", "bandwidth of a copy from the host to the device"),
        KeyInfo(
            "pinned_d2h_latency",
            "s",
            "alpha_pinned_d2h",
            "latency of a copy from the device to pinned host memory",
            required=False,
        ),
        KeyInfo(
            "pinned_d2h_bandwidth",
            "B/s",
            "beta_pinned_d2h",
            "bandwidth of a copy from the device to pinned host memory",
            required=False,
        ),
        KeyInfo(
            "pinned_h2d_latency",
            "s",
            "alpha_pinned_h2d",
            "latency of a copy from pinned host memory to the device",
            required=False,
        ),
        KeyInfo(
            "pinned_h2d_bandwidth",
            "B/s",
            "beta_pinned_h2d",
            "bandwidth of a copy from pinned host memory to the device",
            required=False,
        ),
        KeyInfo("launch_latency", "s", "t_launch", "launch of a kernel"),
        KeyInfo("sync_latency", "s", "t_sync", "synchronisation with the device"),
        KeyInfo("kernel_rate", "B/s", "R", "bytes that a memory-bound kernel touches in a second"),
        KeyInfo("memory_bandwidth", "B/s", "R_mem", "bandwidth of the memory of the device", required=False),
        KeyInfo(
            "peak_flop_rate", "flop/s", "R_flop", "peak rate of floating-point operations of the device", required=False
        ),
        KeyInfo("ranks_per_node", "1", None, "ranks on a node, one for each GPU"),
        KeyInfo("network_cards_per_node", "1", None, "network cards that the ranks of a node share; may be fitted"),
    )
}
