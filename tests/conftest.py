"""What all tests share: hypothesis without deadlines (machines differ), and a cache of compiled code of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# Continuous integration always looks at the same examples; everybody else's runs look for new ones.
settings.register_profile(
    "acausal",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("acausal")


@pytest.fixture(autouse=True, scope="session")
def own_cache_of_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests neither read nor fill the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACAUSAL_CACHE", str(tmp_path_factory.mktemp("session-cache")))
        yield
