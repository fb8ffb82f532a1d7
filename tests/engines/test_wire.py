"""What engines of all protocols share: lines in, lines out, and jobs that wait their turn."""

from __future__ import annotations

import threading

from beamzero.engines.wire import _MOST_ASKED, ProtocolEngine


class Plain(ProtocolEngine):
    def handle(self, line: str) -> bool:
        return True

    def warm_up(self) -> None:
        pass


def test_who_asks_for_too_much_at_a_time_waits_and_nothing_is_left_undone():
    engine, gate, done = Plain(None, print), threading.Event(), []
    engine.later(lambda: gate.wait() and None)

    def flood() -> None:
        for number in range(5 * _MOST_ASKED):
            engine.later(lambda number=number: done.append(number))

    asking = threading.Thread(target=flood)
    asking.start()
    while engine._jobs._work_queue.qsize() < _MOST_ASKED - 1:
        pass
    assert asking.is_alive() and not done
    gate.set()
    asking.join()
    assert engine._jobs._work_queue.qsize() <= _MOST_ASKED
    engine.wait()
    assert done == list(range(5 * _MOST_ASKED))
