"""Ctrl-C is held back, or heard at once, and never lost; SIGTERM is taken for it."""

from __future__ import annotations

import gc
import signal
import threading

import pytest

from beamzero.storage.interrupts import heeding_interrupts, heeding_termination, uninterrupted


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


class InterruptedWhenFreed:
    def __del__(self) -> None:
        interrupt()


def test_a_block_that_must_not_be_interrupted_ends_before_it_is():
    done = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        interrupt()
        done.append(True)
    assert done


def test_an_interrupt_is_raised_at_once():
    with pytest.raises(KeyboardInterrupt), heeding_interrupts():
        interrupt()
        pytest.fail("went on")


def test_what_is_held_back_goes_to_who_would_have_heard_it():
    heard = []
    usual = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with uninterrupted():
            interrupt()
            interrupt()
            assert not heard
    finally:
        signal.signal(signal.SIGINT, usual)
    assert heard == [signal.SIGINT]


def test_later_interrupts_do_not_disturb_what_the_first_has_begun_unless_there_are_many():
    with heeding_interrupts():
        with pytest.raises(KeyboardInterrupt):
            interrupt()
        interrupt()
        with uninterrupted():
            interrupt()
        with pytest.raises(KeyboardInterrupt):
            interrupt()


def test_an_interrupt_that_meets_a_destructor_is_remembered_and_nothing_is_printed(capsys):
    with heeding_interrupts() as ask:
        ask()
        _ = InterruptedWhenFreed()
        del _
        with pytest.raises(KeyboardInterrupt):
            ask()
    assert capsys.readouterr().err == ""


def test_an_interrupt_that_meets_the_garbage_collector_is_remembered():
    def callback(phase: str, _info: dict[str, int]) -> None:
        if phase == "start":
            interrupt()

    with heeding_interrupts() as ask:
        gc.callbacks.append(callback)
        try:
            gc.collect()
        finally:
            gc.callbacks.remove(callback)
        with pytest.raises(KeyboardInterrupt):
            ask()


def test_other_errors_of_destructors_are_still_shown(monkeypatch):
    class Fails:
        def __del__(self) -> None:
            raise ValueError("in a destructor")

    seen = []
    monkeypatch.setattr("sys.unraisablehook", lambda unraisable: seen.append(unraisable.exc_type))
    with heeding_interrupts():
        _ = Fails()
        del _
    assert seen == [ValueError]


def test_afterwards_all_is_as_it_was():
    before = signal.getsignal(signal.SIGINT)
    with heeding_interrupts():
        assert signal.getsignal(signal.SIGINT) is not before
    with uninterrupted():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_an_ignored_interrupt_stays_ignored():
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with heeding_interrupts() as ask:
            interrupt()
            ask()
    finally:
        signal.signal(signal.SIGINT, usual)


def test_another_thread_may_work_too():
    failed = []

    def work() -> None:
        try:
            with heeding_termination(), heeding_interrupts() as ask, uninterrupted():
                ask()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not failed


def terminate() -> None:
    signal.raise_signal(signal.SIGTERM)


@pytest.mark.parametrize("ignored", [False, True])
def test_a_termination_is_an_interrupt_even_where_those_are_ignored(ignored):
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN) if ignored else signal.getsignal(signal.SIGINT)
    done = []
    try:
        with heeding_termination():
            with pytest.raises(KeyboardInterrupt), heeding_interrupts():
                terminate()
                pytest.fail("went on")
            with pytest.raises(KeyboardInterrupt), uninterrupted():
                terminate()
                done.append(True)
    finally:
        signal.signal(signal.SIGINT, usual)
    assert done


def test_after_terminations_are_heeded_all_is_as_it_was():
    before = signal.getsignal(signal.SIGTERM)
    with heeding_termination():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
