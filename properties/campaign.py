"""Many independent jobs, on as many processes or machines as there are, with the same results as on one.

A job is a function of its task alone (a world, a scenario with its gates, a seed), so where and in which
order jobs run cannot matter. Any `concurrent.futures.Executor` will do; `local_processes` makes one that a
Ctrl-C stops in good order.
"""

from __future__ import annotations

import gc
import hashlib
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed, wait
from typing import Generic, TypeVar

from attrs import frozen

T = TypeVar("T")
R = TypeVar("R")


def spawn_seeds(seed: int, n: int) -> tuple[int, ...]:
    """n seeds of 64 bits that follow from one; more of them begin with the same ones."""
    digests = (hashlib.blake2b(f"{seed}/{i}".encode(), digest_size=8).digest() for i in range(n))
    return tuple(int.from_bytes(digest, "big") for digest in digests)


@frozen
class Campaign(Generic[R]):
    """What came of the jobs, by the place of their tasks, in that order.

    `results` are those of the jobs that ended, `errors` what the others raised, `unfinished` the places of
    those that an interruption cut short or kept from starting.
    """

    results: Mapping[int, R]
    errors: Mapping[int, BaseException]
    unfinished: tuple[int, ...]


def run(
    executor: Executor,
    job: Callable[[T], R],
    tasks: Sequence[T],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Campaign[R]:
    """Run the job on every task; the executor stays the caller's to shut down.

    `progress` is told how many jobs have ended, and of how many. After a Ctrl-C no job is started any more,
    and the running ones are waited for; after a second one, they are not.
    """
    futures: list[Future[R]] = []
    try:
        futures.extend(executor.submit(_run, job, task) for task in tasks)
        for ended, _ in enumerate(as_completed(futures), 1):
            if progress is not None:
                progress(ended, len(tasks))
    except KeyboardInterrupt:
        _wind_up(futures)
    results: dict[int, R] = {}
    errors: dict[int, BaseException] = {}
    for place, future in enumerate(futures):
        if future.done() and not future.cancelled():
            error = future.exception()
            if error is None:
                results[place] = future.result()
            elif not isinstance(error, KeyboardInterrupt):
                errors[place] = error
    unfinished = (place for place in range(len(tasks)) if place not in results and place not in errors)
    return Campaign(results, errors, tuple(unfinished))


def local_processes(n: int) -> ProcessPoolExecutor:
    """An executor of n processes on this machine, which leave Ctrl-C to the jobs they run."""
    return ProcessPoolExecutor(n, initializer=_begin)


def _wind_up(futures: Sequence[Future[R]]) -> None:
    try:
        wait([future for future in futures if not future.cancel()])
    except KeyboardInterrupt:
        return


def _begin() -> None:
    """What was there before a process began is no garbage, and is not searched for any."""
    gc.freeze()
    _ignore_interrupts()


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(job: Callable[[T], R], task: T) -> R:
    """The job, with Ctrl-C raised in it even if the process ignores it otherwise."""
    ignored = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    )
    if not ignored:
        return job(task)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return job(task)
    finally:
        _ignore_interrupts()
