"""`Contents`: what a rule file says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from orrery_analytic.decisions.names import SELF, algorithms_of
from orrery_analytic.decisions.rule_files.records import NO_RULE, Collectives, CommRule
from orrery_analytic.decisions.versions import Version, version_of

__all__ = ["Contents"]


@dataclass(frozen=True)
class Contents:
    """The rules of a file, in which form it has them, and for which version of Open MPI: see `RuleFile`."""

    form: str
    library: str
    rules: Collectives
    name: str = "<rules>"
    problems: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()

    @property
    def collectives(self) -> Mapping[str, tuple[CommRule, ...]]:
        """Its rules by collective."""
        return MappingProxyType(dict(self.rules))

    @property
    def version(self) -> Version:
        """`library` as numbers."""
        version = version_of(self.library)
        assert version is not None, "a RuleFile is made for a version"
        return version

    def algorithms(self, collective: str) -> dict[int, str]:
        """Return the names of a collective's algorithms by number, as the library has them."""
        return {NO_RULE: SELF[1]} | algorithms_of(collective, self.version.release)
