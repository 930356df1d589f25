"""The module's end of a channel's queue, with a model, with itself and with a hostile peer."""

import ctypes
import errno
from collections import deque

import pytest
from host import library
from hypothesis import given, settings
from hypothesis import strategies as st

AGAIN, PIPE, BAD = -errno.EAGAIN, -errno.EPIPE, -errno.EBADMSG
PRODUCER, CONSUMER = 0, 1


class Queue(ctypes.Structure):
    _fields_ = (
        ("own", ctypes.c_void_p), ("peer", ctypes.c_void_p), ("slots", ctypes.c_void_p),
        ("epoch", ctypes.c_void_p), ("known", ctypes.c_uint64), ("count", ctypes.c_uint32),
        ("size", ctypes.c_uint32), ("producer", ctypes.c_bool),
    )  # fmt: skip


@pytest.fixture(scope="module")
def c(tmp_path_factory):
    found = library(tmp_path_factory.mktemp("queue"), "module/queue.c")
    found.tenon_queue_bytes.restype = ctypes.c_uint64
    for name in ("sent", "taken", "ready", "ask"):
        getattr(found, f"tenon_queue_{name}").restype = ctypes.c_bool
    found.tenon_queue_length.restype = ctypes.c_uint32
    return found


class Ends:
    """Both ends of a queue in memory with a fence of its own behind."""

    def __init__(self, c, count, size):
        self.c, self.size, words = c, size, c.tenon_queue_bytes(count, size) // 8
        self.parts = [(ctypes.c_uint64 * n)(*[7] * n) for n in (words + 8, 8 + 8, 8 + 8)]
        for part in self.parts:
            for at in range(len(part) - 8):
                part[at] = 0
        self.status = self.parts[2]
        self.ends = [Queue(), Queue()]
        self.begin(PRODUCER)
        self.begin(CONSUMER)
        for end in (PRODUCER, CONSUMER):
            c.tenon_queue_attach(
                ctypes.byref(self.ends[end]), *self.parts, count, size, end == PRODUCER
            )

    def begin(self, end):
        """Reset an end, as Mortise does when a VM starts or ends."""
        self.status[end] += 1

    def slot(self, end):
        slot = ctypes.POINTER(ctypes.c_uint64)()
        return self.c.tenon_queue_next(ctypes.byref(self.ends[end]), ctypes.byref(slot)), slot

    def send(self, text):
        error, slot = self.slot(PRODUCER)
        if error:
            return error
        ctypes.memmove(ctypes.addressof(slot.contents) + 8, text, len(text))
        return self.c.tenon_queue_sent(ctypes.byref(self.ends[PRODUCER]), slot, len(text))

    def take(self):
        error, slot = self.slot(CONSUMER)
        if error:
            return error
        length = self.c.tenon_queue_length(ctypes.byref(self.ends[CONSUMER]), slot)
        assert length <= self.size
        text = ctypes.string_at(ctypes.addressof(slot.contents) + 8, length)
        return text, self.c.tenon_queue_taken(ctypes.byref(self.ends[CONSUMER]))

    def ask(self, end):
        return self.c.tenon_queue_ask(ctypes.byref(self.ends[end]))

    def ready(self, end):
        return self.c.tenon_queue_ready(ctypes.byref(self.ends[end]))

    def intact(self):
        return all(word == 7 for part in self.parts for word in part[-8:])


STEPS = st.lists(st.one_of(st.binary(max_size=13), st.sampled_from(["take", "wait", "full?"])))


@settings(max_examples=300)
@given(STEPS, st.sampled_from([1, 2, 8]), st.integers(2**64 - 3, 2**64 + 2))
def test_messages_keep_their_order_and_waiting_ends_are_notified(c, steps, count, start):
    ends, model, waiting = Ends(c, count, 13), deque(), set()
    ends.parts[0][0] = ends.parts[1][0] = start  # indices wrap
    ends.parts[0][1] = ends.parts[1][1] = start  # what was waited for lies behind
    for step in steps:
        if step == "take":
            taken = ends.take()
            if not model:
                assert taken == AGAIN
                continue
            assert taken == (model.popleft(), PRODUCER in waiting)
            waiting.discard(PRODUCER)
        elif step == "wait":
            assert ends.ask(CONSUMER) == (not model)
            waiting = waiting | {CONSUMER} if not model else waiting
        elif step == "full?":
            assert ends.ready(PRODUCER) == (len(model) < count)
            waiting = waiting | {PRODUCER} if len(model) == count else waiting
        elif len(model) == count:
            assert ends.send(step) == AGAIN
        else:
            assert ends.send(step) == (CONSUMER in waiting)
            waiting.discard(CONSUMER)
            model.append(step)
    assert ends.intact()


def test_a_departed_producer_is_reported_once_after_its_messages(c):
    ends = Ends(c, 4, 8)
    ends.send(b"last")
    ends.begin(PRODUCER)  # it ends
    assert ends.ready(CONSUMER)
    assert ends.take()[0] == b"last"
    assert ends.ready(CONSUMER), "its end is to be told"
    assert ends.take() == PIPE
    assert ends.take() == AGAIN
    assert ends.ask(CONSUMER)
    ends.begin(PRODUCER)  # another begins
    assert not ends.ask(CONSUMER), "looked again instead of slept"
    assert ends.take() == AGAIN
    assert ends.ask(CONSUMER)


def test_a_consumer_that_was_replaced_is_reported_once(c):
    ends = Ends(c, 4, 8)
    ends.begin(CONSUMER)
    ends.begin(CONSUMER)
    assert ends.send(b"x") == PIPE
    assert ends.send(b"x") is False


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9), st.integers(0, 2**64 - 1))))
def test_a_liar_harms_itself_only(c, words):
    """Whatever the peer writes, lengths hold and nothing outside of the parts is touched."""
    ends = Ends(c, 4, 8)
    for end, at, value in words:
        ends.parts[1 - end][at % (2 if end == PRODUCER else 10)] = value
        own = ends.parts[end][0]
        if end == PRODUCER:
            ends.send(b"12345678")
            assert ends.parts[0][0] in (own, (own + 1) % 2**64)
        else:
            taken = ends.take()
            assert taken in (AGAIN, BAD, PIPE) or len(taken[0]) <= 8
        ends.ready(end)
    assert ends.intact()


def test_a_producer_that_lies_loses_what_it_sent(c):
    ends = Ends(c, 4, 8)
    ends.parts[0][0] = 5  # five in four slots
    assert ends.ready(CONSUMER) and ends.ready(CONSUMER), "it is to be told to who reads"
    assert ends.take() == BAD
    assert ends.parts[1][0] == 5
    assert ends.take() == AGAIN
