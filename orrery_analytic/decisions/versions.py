"""Versions of Open MPI, as people write them, and the rule sets that hold in them."""

from __future__ import annotations

import re
from typing import NamedTuple

from orrery_analytic.errors import UnknownNameError, unknown_name

__all__ = ["RULES", "Version", "rule_set_of", "version_of"]

#: The rule sets, and the releases of Open MPI (major.minor) in which each holds.
RULES = {"openmpi-4.0": ("2.1", "3.0", "3.1", "4.0"), "openmpi-4.1": ("4.1", "5.0")}

# "4.1.6", "v5.0.x", "openmpi-5.0", "openmpi/4.1.6-gcc", "Open MPI 4.1.4rc1", Debian's "4.1.4-3+b1", and what
# `mpirun --version` and MPI_Get_library_version print: "mpirun (Open MPI) 4.1.4", "Open MPI v4.1.5, package: ...".
_VERSION = re.compile(
    r"(?:(?:mpirun|mpiexec|orterun|prterun)\s+)?"
    r"(?:\(?(?:open[ _-]?mpi|ompi)\d?\)?[\s_/@:-]*)?"
    r"v?(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}|x))?"
    r"(?:(?:a|b|rc|dev|git)[.\w]*)?(?:[-+~_,/%@\n].*)?",
    re.IGNORECASE | re.DOTALL,
)


class Version(NamedTuple):
    """A version of Open MPI; without a patch, any of the release."""

    major: int
    minor: int
    patch: int | None = None

    @property
    def release(self) -> str:
        """Major and minor number: "4.1"."""
        return f"{self.major}.{self.minor}"

    def __str__(self) -> str:
        return self.release if self.patch is None else f"{self.release}.{self.patch}"


def version_of(text: object) -> Version | None:
    """Return the version that a text names, or None where it names none."""
    found = _VERSION.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None:
        return None
    patch = found[3]
    return Version(int(found[1]), int(found[2]), int(patch) if patch and patch.isdecimal() else None)


def rule_set_of(text: object) -> str:
    """Return the name of the rule set that holds in the version that a text names.

    Raises
    ------
    UnknownNameError
        For a text that is no version, and for versions whose decision is not held here.
    """
    version = version_of(text)
    for name, releases in RULES.items():
        if version and version.release in releases:
            return name
    error = unknown_name("rules", text, [f"openmpi-{release}" for releases in RULES.values() for release in releases])
    more = " Or a rule file: its path, or what read_rules returns."
    if version and version >= (6, 0):
        more = f" Open MPI {version.release} has other tables, which are not held here.{more}"
    raise UnknownNameError(f"{error}{more}")
