"""Parallel evaluation: processes of this machine, or a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any, Protocol

from tenonos.errors import InputError
from tenonos.explore.oracle import Verdict, judge

Files = Mapping[str, str]


class Workers(Protocol):
    """An evaluator of several alternatives in parallel."""

    def verdicts(self, asked: Sequence[Files], seconds: float) -> Iterator[tuple[int, Verdict]]:
        """The verdicts in order of completion, each with its index."""
        ...


class Here:
    """Evaluation by processes of this machine."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def verdicts(self, asked: Sequence[Files], seconds: float) -> Iterator[tuple[int, Verdict]]:
        """The verdicts as they come."""
        places = {
            self._pool.submit(judge, dict(files), seconds): place
            for place, files in enumerate(asked)
        }
        for done in as_completed(places):
            yield places[done], done.result()


class There:
    """Evaluation by a cluster; each worker needs this project."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def verdicts(self, asked: Sequence[Files], seconds: float) -> Iterator[tuple[int, Verdict]]:
        """The verdicts as they come."""
        from distributed import as_completed as finished

        places = {
            self._client.submit(judge, dict(files), seconds, pure=False): place
            for place, files in enumerate(asked)
        }
        for done in finished(list(places)):
            yield places[done], done.result()


def _end_with_parent() -> None:
    """Let workers end with a killed search, which cannot tell them."""
    parent = multiprocessing.parent_process()

    def end() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=end, daemon=True).start()


@contextmanager
def workers(address: str | None, jobs: int) -> Iterator[Workers]:
    """Local workers, or those of a cluster, until the block ends."""
    if address is None:
        context = multiprocessing.get_context("spawn")
        count = jobs or os.cpu_count()
        with ProcessPoolExecutor(count, mp_context=context, initializer=_end_with_parent) as pool:
            try:
                yield Here(pool)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "the package distributed is not installed", "--cluster", "install tenonos[cluster]"
        ) from None
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise InputError(f"no cluster answers: {error}", "--cluster", "name its address") from None
    with client:
        yield There(client)
