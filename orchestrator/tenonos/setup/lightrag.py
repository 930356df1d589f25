"""Installation of LightRAG, on first use of its retrieval.

It brings some sixty packages, which no other command needs.
"""

from __future__ import annotations

from tenonos import paths
from tenonos.setup.extras import Extra

_EXTRA = Extra(
    "LightRAG",
    "lightrag",
    paths.ROOT / "orchestrator" / "lightrag.lock",
    "60 packages, 90 MB to fetch, 300 MB on disk",
    "--retrieval",
    "say yes, or use fused",
)


def there() -> bool:
    """Whether it is installed."""
    return _EXTRA.there()


def provide() -> None:
    """Install it if it is missing; fail with the reason."""
    if not there():
        _EXTRA.install()
