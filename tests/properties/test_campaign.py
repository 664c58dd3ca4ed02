"""Campaigns: the same results wherever the jobs run, and nothing lost when they are stopped."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from classics import Philosophers

from gangproof.properties.campaign import local_processes, run, spawn_seeds
from gangproof.properties.search.explore import explore
from gangproof.properties.search.system import stepwise


def philosophers(n: int) -> str:
    return str(explore(stepwise(Philosophers(n))))


def tenth(n: int) -> float:
    return 10 / n


def late_for_the_first(n: int) -> int:
    time.sleep(0.2 if n == 0 else 0)
    return n * n


def test_seeds_follow_from_one_and_more_begin_with_the_same() -> None:
    seeds = spawn_seeds(7, 100)
    assert seeds[:10] == spawn_seeds(7, 10)
    assert len(set(seeds)) == 100
    assert not set(seeds) & set(spawn_seeds(8, 100))
    assert all(0 <= seed < 2**64 for seed in seeds)


def test_the_results_do_not_depend_on_the_executor() -> None:
    tasks = [5, 2, 4, 3, 6]
    with local_processes(1) as one, local_processes(2) as two, ThreadPoolExecutor(3) as threads:
        campaigns = [run(executor, philosophers, tasks) for executor in (one, two, threads)]
    assert campaigns[0] == campaigns[1] == campaigns[2]
    assert list(campaigns[0].results.values()) == [philosophers(n) for n in tasks]
    assert (campaigns[0].errors, campaigns[0].unfinished) == ({}, ())


def test_results_are_in_the_order_of_the_tasks_not_of_their_ends() -> None:
    with ThreadPoolExecutor(2) as executor:
        assert list(run(executor, late_for_the_first, [0, 1, 2]).results.items()) == [(0, 0), (1, 1), (2, 4)]


def test_an_error_costs_only_its_own_job() -> None:
    with local_processes(2) as executor:
        campaign = run(executor, tenth, [1, 0, 5])
    assert campaign.results == {0: 10.0, 2: 2.0}
    assert isinstance(campaign.errors[1], ZeroDivisionError)
    assert campaign.unfinished == ()


def test_progress_counts_to_the_end() -> None:
    told: list[tuple[int, int]] = []
    with ThreadPoolExecutor(2) as executor:
        run(executor, tenth, [1, 2, 4], progress=lambda *ended: told.append(ended))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_an_interrupt_waits_for_the_running_job_and_starts_no_more() -> None:
    running, gate = threading.Event(), threading.Event()
    started: list[int] = []

    def job(n: int) -> int:
        started.append(n)
        if n == 1:
            running.set()
            gate.wait(30)
        return n

    def interrupt(_ended: int, _total: int) -> None:
        running.wait(30)
        threading.Timer(0.3, gate.set).start()
        raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as executor:
        campaign = run(executor, job, list(range(50)), progress=interrupt)
    assert campaign.results == {0: 0, 1: 1}
    assert campaign.unfinished == tuple(range(2, 50))
    assert started == [0, 1]


def endless_if_odd(n: int) -> str:
    """A job that Ctrl-C must reach in its own process."""
    if n % 2:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    return "ended"


def test_an_interrupt_reaches_the_jobs_of_local_processes_and_leaves_the_processes_alive() -> None:
    began = time.monotonic()
    with local_processes(1) as executor:
        campaign = run(executor, endless_if_odd, [0, 1, 2])
    assert campaign.results == {0: "ended", 2: "ended"}
    assert campaign.unfinished == (1,)
    assert time.monotonic() - began < 30


def process(_task: int) -> int:
    return os.getpid()


@pytest.mark.parametrize("processes", [1, 2])
def test_between_jobs_local_processes_ignore_interrupts(processes: int) -> None:
    with local_processes(processes) as executor:
        pids = run(executor, process, range(4)).results.values()
        for pid in set(pids):
            os.kill(pid, signal.SIGINT)
        assert run(executor, tenth, [1, 2]).results == {0: 10.0, 1: 5.0}
