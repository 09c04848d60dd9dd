"""Every symbol of the package once, with its unit and meaning."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from orrery_analytic.errors import unknown_name

__all__ = [
    "COPIES",
    "SYMBOLS",
    "F",
    "G",
    "L",
    "P",
    "R",
    "R_flop",
    "R_mem",
    "SymbolInfo",
    "W",
    "alpha",
    "alpha_gdr",
    "alpha_intra",
    "alpha_peer",
    "alpha_rndv",
    "band_symbols",
    "beta",
    "beta_eager",
    "beta_gdr",
    "beta_intra",
    "beta_peer",
    "copy_symbols",
    "describe",
    "g",
    "gamma",
    "iterations",
    "n",
    "n_f",
    "n_s",
    "nccheck",
    "nx",
    "ny",
    "o",
    "s_gdr",
    "s_rndv",
    "t_call",
    "t_launch",
    "t_sync",
]


@dataclass(frozen=True)
class SymbolInfo:
    """A SymPy symbol with the unit of its numbers ("s", "B", "s/B", "B/s", "flop", "flop/s", "1") and its meaning."""

    symbol: sp.Symbol
    unit: str
    meaning: str

    @property
    def told(self) -> str:
        """Meaning and unit, in words."""
        return self.meaning if self.unit == "1" else f"{self.meaning}, in {self.unit}"


SYMBOLS: dict[str, SymbolInfo] = {}


def _symbol(name: str, unit: str, meaning: str, integer: bool = False) -> sp.Symbol:
    symbol = sp.Symbol(name, positive=True, integer=True) if integer else sp.Symbol(name, positive=True)
    SYMBOLS[name] = SymbolInfo(symbol, unit, meaning)
    return symbol


P = _symbol("P", "1", "number of ranks", integer=True)
n = _symbol("n", "B", "message size, as the OSU micro-benchmarks print it")
n_s = _symbol("n_s", "B", "segment size of a pipelined algorithm")
n_f = _symbol("n_f", "B", "fragment size of a message that is staged through the host in fragments")

alpha = _symbol("alpha", "s", "latency of a message between nodes")
beta = _symbol("beta", "s/B", "time a byte on the wire between nodes")
gamma = _symbol("gamma", "s/B", "time a reduced byte on the host")

L = _symbol("L", "s", "LogGP latency of the wire")
o = _symbol("o", "s", "LogGP overhead of the processor, at the sender and at the receiver")
g = _symbol("g", "s", "LogGP gap between messages of one rank")
G = _symbol("G", "s/B", "LogGP gap a byte of a long message")

alpha_intra = _symbol("alpha_intra", "s", "latency of a message inside a node")
beta_intra = _symbol("beta_intra", "s/B", "time a byte inside a node")

t_call = _symbol("t_call", "s", "cost of the library for a call on device buffers")
alpha_gdr = _symbol("alpha_gdr", "s", "cost of GPUDirect RDMA for a device buffer")
alpha_peer = _symbol("alpha_peer", "s", "latency of a copy between two GPUs of a node")
beta_peer = _symbol("beta_peer", "s/B", "time a byte between two GPUs of a node")
beta_gdr = _symbol("beta_gdr", "s/B", "what a byte of a device buffer costs more by GPUDirect RDMA than from the host")
s_gdr = _symbol("s_gdr", "B", "largest device buffer that goes by GPUDirect RDMA; larger ones are staged")
beta_eager = _symbol(
    "beta_eager", "s/B", "time a byte between a device buffer and the library's own, for eager messages"
)
alpha_rndv = _symbol("alpha_rndv", "s", "handshake of the rendezvous, before the first byte")
s_rndv = _symbol("s_rndv", "B", "largest message that is sent eagerly; larger ones take a rendezvous")

t_launch = _symbol("t_launch", "s", "launch of a kernel")
t_sync = _symbol("t_sync", "s", "synchronisation with the device")
R = _symbol("R", "B/s", "rate of a kernel")
W = _symbol("W", "B", "work of a kernel: bytes that it touches")
F = _symbol("F", "flop", "work of a kernel: floating-point operations")
nx = _symbol("nx", "1", "columns of a grid")
ny = _symbol("ny", "1", "rows of a grid")
iterations = _symbol("iterations", "1", "iterations of a solver")
nccheck = _symbol("nccheck", "1", "iterations from one norm to the next")
R_mem = _symbol("R_mem", "B/s", "bandwidth of the memory of the device")
R_flop = _symbol("R_flop", "flop/s", "peak rate of floating-point operations of the device")

COPIES = {
    "d2h": "from the device to the host",
    "h2d": "from the host to the device",
    "pinned_d2h": "from the device to pinned host memory",
    "pinned_h2d": "from pinned host memory to the device",
}
"""The copies between device and host, and their directions. Host memory is pageable unless the name says pinned."""

for _copy, _direction in COPIES.items():
    _symbol(f"alpha_{_copy}", "s", f"latency of a copy {_direction}")
    _symbol(f"beta_{_copy}", "s/B", f"time a byte of a copy {_direction}")


def copy_symbols(copy: str) -> tuple[sp.Symbol, sp.Symbol]:
    """Return the latency and the time a byte of a copy, one of `COPIES`."""
    return SYMBOLS[f"alpha_{copy}"].symbol, SYMBOLS[f"beta_{copy}"].symbol


def band_symbols(copy: str, bands: int) -> list[tuple[sp.Symbol, sp.Symbol, sp.Symbol | None]]:
    """Return (latency, time a byte, largest size) of each size band of a copy; the last band has no largest size.

    The symbols of band 1 are ``alpha_d2h_1``, ``beta_d2h_1`` and ``s_d2h_1``, and so on.
    """
    rows: list[tuple[sp.Symbol, sp.Symbol, sp.Symbol | None]] = []
    for i in range(1, bands + 1):
        a, b = describe(f"alpha_{copy}_{i}").symbol, describe(f"beta_{copy}_{i}").symbol
        rows.append((a, b, describe(f"s_{copy}_{i}").symbol if i < bands else None))
    return rows


def describe(name: str) -> SymbolInfo:
    """Return unit and meaning of a symbol by its name.

    Raises
    ------
    UnknownNameError
        If no formula of this package has such a symbol.
    """
    if not isinstance(name, str):
        raise unknown_name("symbol", name, SYMBOLS)
    if name in SYMBOLS:
        return SYMBOLS[name]
    kind, _, rest = name.partition("_")
    copy, _, band = rest.rpartition("_")
    if kind in ("alpha", "beta", "s") and copy in COPIES and band.isdecimal():
        unit, what = {"alpha": ("s", "latency"), "beta": ("s/B", "time a byte"), "s": ("B", "largest size")}[kind]
        return SymbolInfo(sp.Symbol(name, positive=True), unit, f"{what}, band {int(band)} of a copy {COPIES[copy]}")
    raise unknown_name("symbol", name, SYMBOLS)
