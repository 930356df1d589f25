//! Event flags, queues, mailboxes and pipes: wake-up order, time-outs, use from handlers.

use crate::Trail;
use crate::threads::{A, B, C, failed};
use support_cases::{Case, Failure, expect};
use tenon::queue::{Error, Mailbox, Pipe, Queue};
use tenon::sync::{self, EventFlags, Wanted};
use tenon::thread::relative_priority;
use tenon::time::{Duration, Instant, Timer};

pub const CASES: &[Case] = &[
    ("flags wake those who have what they wait for", flags_wake),
    ("flags that are taken are gone", flags_are_taken),
    ("messages go to the most urgent in order", messages_in_order),
    ("who waits for room gets it in turn", room_in_turn),
    ("a message is read where it was written", read_in_place),
    ("a wait for a message or for room ends", queue_waits_end),
    ("a handler sends", handler_sends),
    ("a mailbox keeps the latest", latest_is_kept),
    ("a pipe passes more than it holds", pipe_passes),
];

static TRAIL: Trail = Trail::new();

fn soon() -> Instant {
    Instant::now() + Duration::from_millis(2)
}

fn flags_wake() -> Result<(), Failure> {
    static FLAGS: EventFlags = EventFlags::new();
    let wanted = [Wanted::any(0b11), Wanted::all(0b11), Wanted::all(0b110)];
    for ((wanted, storage), difference) in wanted.into_iter().zip([&A, &B, &C]).zip([1, 2, 3]) {
        let waits = move || TRAIL.note(FLAGS.wait(wanted) as usize);
        storage
            .spawn("waits", relative_priority(difference), waits)
            .map_err(failed)?;
    }
    for flag in [0b1, 0b10, 0b100] {
        FLAGS.set(flag);
        TRAIL.note(9);
    }
    TRAIL.expect(193_969, "each at its flag")?;
    expect(FLAGS.get() == 0b111, "all flags kept", FLAGS.get().into())?;
    let late = FLAGS.wait_until(Wanted::any(0b1000), soon());
    expect(late == Err(sync::Error::TimedOut), "no flag in time", 0)
}

fn flags_are_taken() -> Result<(), Failure> {
    static FLAGS: EventFlags = EventFlags::new();
    static SETTER: Timer = Timer::new(|| FLAGS.set(0b101));
    for (number, storage, difference) in [(1, &A, 1), (2, &B, 2)] {
        let waits = move || {
            let flags = FLAGS.wait(Wanted::any(0b11).clearing());
            TRAIL.note(number + flags as usize);
        };
        storage
            .spawn("waits", relative_priority(difference), waits)
            .map_err(failed)?;
    }
    SETTER.start(soon());
    let flags = FLAGS.wait(Wanted::all(0b100).clearing());
    expect(flags == 0b100, "the handler's flag", flags.into())?;
    TRAIL.expect(3, "one of the two")?;
    expect(FLAGS.get() == 0, "no flag", FLAGS.get().into())?;
    FLAGS.set(0b10);
    TRAIL.expect(3, "the other one")
}

fn messages_in_order() -> Result<(), Failure> {
    static QUEUE: Queue<(usize, &'static str), 4> = Queue::new();
    for (number, storage, difference) in [(1, &A, 1), (2, &B, 2), (3, &C, 1)] {
        let gets = move || {
            let (message, _) = QUEUE.get();
            TRAIL.note(number);
            TRAIL.note(message);
        };
        storage
            .spawn("gets", relative_priority(difference), gets)
            .map_err(failed)?;
    }
    for message in [7, 8, 9] {
        QUEUE.put((message, "a message"));
    }
    TRAIL.expect(271_839, "turns by urgency, messages in order")?;
    let left = QUEUE.try_get();
    expect(left == Err(Error::Empty), "each message got", 0)
}

fn room_in_turn() -> Result<(), Failure> {
    static QUEUE: Queue<usize, 1> = Queue::new();
    QUEUE.put(1);
    expect(QUEUE.try_put(0) == Err(Error::Full), "no room", 0)?;
    for (number, storage, difference) in [(2, &A, 1), (3, &B, 2)] {
        let puts = move || QUEUE.put(number);
        storage
            .spawn("puts", relative_priority(difference), puts)
            .map_err(failed)?;
    }
    for _ in 0..3 {
        TRAIL.note(QUEUE.get());
    }
    TRAIL.expect(132, "the most urgent sender's next")?;
    expect(QUEUE.try_put(4).is_ok(), "room again", 0)?;
    let message = QUEUE.try_get();
    expect(message == Ok(4), "the last message", 0)
}

fn read_in_place() -> Result<(), Failure> {
    static QUEUE: Queue<[u8; 100], 2> = Queue::new();
    QUEUE.reserve().send([1; 100]);
    QUEUE.put([2; 100]);
    let (first, second) = (QUEUE.receive(), QUEUE.receive());
    expect(QUEUE.try_reserve().is_err(), "both places lent", 0)?;
    let sender = || QUEUE.put([3; 100]);
    A.spawn("sender", relative_priority(1), sender)
        .map_err(failed)?;
    drop(second);
    let third = QUEUE.receive();
    let right = first[99] == 1 && third[0] == 3;
    expect(right, "what was borrowed first, unchanged", 0)
}

fn queue_waits_end() -> Result<(), Failure> {
    static QUEUE: Queue<u8, 1> = Queue::new();
    let end = soon();
    expect(
        QUEUE.get_until(end) == Err(Error::TimedOut),
        "no message",
        0,
    )?;
    expect(Instant::now() >= end, "the whole wait", 0)?;
    QUEUE.put(1);
    let refused = QUEUE.put_until(2, soon());
    expect(refused == Err(Error::TimedOut), "no room", 0)?;
    // A wait that timed out consumes neither space nor a message.
    expect(QUEUE.get() == 1, "the first message", 0)?;
    expect(QUEUE.try_put(3).is_ok(), "room", 0)?;
    expect(QUEUE.get() == 3, "the next message", 0)
}

fn handler_sends() -> Result<(), Failure> {
    static QUEUE: Queue<u32, 4> = Queue::new();
    static SENDER: Timer = Timer::new(|| {
        for message in 1..=5 {
            // There is no space for the last one.
            let _ = QUEUE.try_put(message);
        }
    });
    SENDER.start(soon());
    for expected in 1..=4 {
        let message = QUEUE.get();
        expect(
            message == expected,
            "the handler's messages",
            message.into(),
        )?;
    }
    let rest = QUEUE.try_get();
    expect(rest == Err(Error::Empty), "no room for a fifth", 0)
}

fn latest_is_kept() -> Result<(), Failure> {
    static MAILBOX: Mailbox<u32> = Mailbox::new();
    static POSTER: Timer = Timer::new(|| {
        let _ = MAILBOX.post(1);
        let _ = MAILBOX.post(2);
    });
    POSTER.start(soon());
    let fetched = MAILBOX.fetch();
    expect(fetched == 2, "the latest", fetched.into())?;
    let end = soon();
    let nothing = MAILBOX.fetch_until(end);
    expect(nothing == Err(Error::TimedOut), "nothing more", 0)?;
    expect(Instant::now() >= end, "the whole wait", 0)
}

fn pipe_passes() -> Result<(), Failure> {
    static PIPE: Pipe<150> = Pipe::new();
    const COUNT: usize = 1_000;
    let writer = || {
        let bytes: [u8; COUNT] = core::array::from_fn(|index| index as u8);
        PIPE.write(&bytes);
    };
    A.spawn("writer", relative_priority(1), writer)
        .map_err(failed)?;
    let (mut bytes, mut count) = ([0; 70], 0);
    while count < COUNT {
        let read = PIPE.read(&mut bytes);
        for byte in bytes.iter().take(read) {
            expect(*byte == count as u8, "the next byte", count as u64)?;
            count += 1;
        }
    }
    let end = soon();
    let nothing = PIPE.read_until(&mut bytes, end);
    expect(nothing == Err(Error::TimedOut), "no more", 0)?;
    // Two readers are both woken if there is enough for both.
    for (number, storage) in [(1, &B), (2, &C)] {
        let reads = move || TRAIL.note(PIPE.read(&mut [0; 1]) * number);
        storage
            .spawn("reads", relative_priority(1), reads)
            .map_err(failed)?;
    }
    PIPE.write(b"12");
    TRAIL.expect(12, "a byte for each")
}
