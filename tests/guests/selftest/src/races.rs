//! Races of operations with time-outs.
//!
//! Each case runs some hundred rounds with pseudo-random offsets around the deadline, and checks that no
//! unit is lost or duplicated. With several cores the threads are on different cores.

use crate::refused;
use crate::threads::{A, B, C, failed};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use support_cases::{Case, Failure, expect};
use tenon::queue::{Mailbox, Pipe, Queue};
use tenon::sync::{Condvar, EventFlags, Mutex, Semaphore, Wake, Wanted};
use tenon::thread::{self, Handle, Storage, relative_priority};
use tenon::time::{self, Duration, Instant, Timer};

pub const CASES: &[Case] = &[
    ("a unit is taken in time or kept", unit_or_time),
    ("a message is got in time or kept", message_or_time),
    (
        "a condition wakes or times out, owning the mutex",
        condition_or_time,
    ),
    ("a mutex is got in time or not at all", mutex_or_time),
    ("messages of many senders are all got", many_senders),
    ("flags go to and fro", flags_to_and_fro),
    ("a stream passes a narrow pipe", stream),
    ("a thread has many successors", many_lives),
];

const ROUNDS: u32 = 500;
/// Distance of the deadline, and of the operation on either side of it.
const AHEAD: Duration = Duration::from_micros(20);

/// The deadline of a round, and the time of its operation.
fn moments(round: u32) -> (Instant, Instant) {
    let now = Instant::now();
    let spread = u64::from(round).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (now + AHEAD, now + Duration::from_nanos(spread % 40_000))
}

/// Time by which a due handler has run even on a busy host: there the emulator may show a thread a time
/// before it raises the timer's interrupt.
fn late() -> Instant {
    Instant::now() + Duration::from_secs(1)
}

fn unit_or_time() -> Result<(), Failure> {
    static SEMAPHORE: Semaphore = Semaphore::new(0);
    static GIVER: Timer = Timer::new(|| {
        let _ = SEMAPHORE.give();
    });
    for round in 0..ROUNDS {
        let (deadline, given) = moments(round);
        GIVER.start(given);
        let taken = SEMAPHORE.take_until(deadline);
        let taken = taken.or_else(|_| SEMAPHORE.take_until(late()));
        expect(taken.is_ok(), "the unit", round.into())?;
        expect(!SEMAPHORE.try_take(), "no unit more", round.into())?;
    }
    Ok(())
}

fn message_or_time() -> Result<(), Failure> {
    static QUEUE: Queue<u32, 2> = Queue::new();
    static NEXT: AtomicU32 = AtomicU32::new(0);
    static SENDER: Timer = Timer::new(|| {
        let _ = QUEUE.try_put(NEXT.fetch_add(1, Relaxed));
    });
    for round in 0..ROUNDS {
        let (deadline, given) = moments(round);
        SENDER.start(given);
        let message = QUEUE.get_until(deadline);
        let message = message.or_else(|_| QUEUE.get_until(late()));
        expect(message == Ok(round), "this round's message", round.into())?;
    }
    Ok(())
}

fn condition_or_time() -> Result<(), Failure> {
    static MUTEX: Mutex<()> = Mutex::new(());
    static CONDVAR: Condvar = Condvar::new();
    static NOTIFIER: Timer = Timer::new(|| CONDVAR.notify_all());
    let mut outcomes = [0; 2];
    for round in 0..ROUNDS {
        let guard = MUTEX.lock().map_err(refused)?;
        let (deadline, mut given) = moments(round);
        if round % 8 == 7 {
            // With a fixed tick both times may be the same tick; this one is different.
            given = given + Duration::from_millis(1);
        }
        NOTIFIER.start(given);
        let (guard, wake) = CONDVAR.wait_until(guard, deadline).map_err(refused)?;
        outcomes[usize::from(wake == Wake::TimedOut)] += 1;
        drop(guard);
        NOTIFIER.cancel();
    }
    let both = outcomes.iter().all(|&times| times > 0);
    expect(both, "both outcomes", outcomes[0])
}

/// The owner unlocks around the time-out of the waiting thread.
fn mutex_or_time() -> Result<(), Failure> {
    static MUTEX: Mutex<u32> = Mutex::new(0);
    static GOT: AtomicU32 = AtomicU32::new(0);
    static MISSED: AtomicU32 = AtomicU32::new(0);
    static TURN: Semaphore = Semaphore::new(0);
    let tries = || {
        for _ in 0..ROUNDS / 2 {
            TURN.take();
            match MUTEX.lock_until(Instant::now() + AHEAD) {
                Ok(mut count) => *count += 1,
                Err(_) => drop(MISSED.fetch_add(1, Relaxed)),
            }
            GOT.fetch_add(1, Relaxed);
        }
    };
    let other = A
        .spawn("tries", relative_priority(1), tries)
        .map_err(failed)?;
    for round in 0..ROUNDS / 2 {
        let guard = MUTEX.lock().map_err(refused)?;
        let (_, until) = moments(round);
        // It calls at once and blocks.
        let _ = TURN.give();
        while Instant::now() < until {}
        drop(guard);
        while GOT.load(Relaxed) <= round {
            time::sleep(AHEAD);
        }
    }
    other.join().map_err(failed)?;
    let count = *MUTEX.lock().map_err(refused)?;
    let rounds = count + MISSED.load(Relaxed);
    expect(
        rounds == ROUNDS / 2,
        "each round got or missed",
        rounds.into(),
    )
}

/// Spawns a thread on this core, modulo the number of cores.
fn spawn_somewhere<F: FnOnce() + Send + 'static>(
    core: usize,
    storage: &'static Storage<4096>,
    difference: i8,
    body: F,
) -> Result<Handle, Failure> {
    let core = core % thread::cores();
    let spawned = storage.spawn_on(core, "elsewhere", relative_priority(difference), body);
    spawned.map_err(failed)
}

/// Two threads and a handler send, a third thread and this one receive, on a small queue.
fn many_senders() -> Result<(), Failure> {
    static QUEUE: Queue<u32, 3> = Queue::new();
    static SUM: AtomicU32 = AtomicU32::new(0);
    static COUNT: AtomicU32 = AtomicU32::new(0);
    static SENT: AtomicU32 = AtomicU32::new(0);
    static SENDER: Timer = Timer::new(|| {
        if QUEUE.try_put(1).is_ok() {
            SENT.fetch_add(1, Relaxed);
        }
    });
    fn note(message: u32) -> u32 {
        SUM.fetch_add(message, Relaxed);
        COUNT.fetch_add(1, Relaxed) + 1
    }
    for (core, storage, difference) in [(0, &A, 1), (1, &B, 0)] {
        let sends = || {
            for message in 0..ROUNDS / 2 {
                QUEUE.put(message);
            }
        };
        spawn_somewhere(core, storage, difference, sends)?;
    }
    let gets = || while note(QUEUE.get()) < ROUNDS / 2 {};
    let other = spawn_somewhere(2, &C, 0, gets)?;
    for round in 0..ROUNDS / 5 {
        SENDER.start(Instant::now() + Duration::from_micros((round % 7).into()));
        note(QUEUE.get());
    }
    SENDER.cancel();
    other.join().map_err(failed)?;
    // Includes messages that the handler sent after the last count.
    while let Ok(message) = QUEUE.get_until(Instant::now() + Duration::from_millis(20)) {
        note(message);
    }
    let (count, sent) = (COUNT.load(Relaxed), SENT.load(Relaxed));
    expect(count == ROUNDS / 2 * 2 + sent, "all messages", count.into())?;
    let sum = SUM.load(Relaxed);
    let expected = (0..ROUNDS / 2).sum::<u32>() * 2 + sent;
    expect(sum == expected, "the sum of all messages", sum.into())
}

/// Two threads set and take each other's event flags.
fn flags_to_and_fro() -> Result<(), Failure> {
    static FLAGS: EventFlags = EventFlags::new();
    let answers = || {
        for _ in 0..ROUNDS {
            FLAGS.wait(Wanted::all(0b11).clearing());
            FLAGS.set(0b100);
        }
    };
    let other = spawn_somewhere(1, &A, 0, answers)?;
    for round in 0..ROUNDS {
        FLAGS.set(0b01);
        FLAGS.set(0b10);
        let answer = FLAGS.wait_until(Wanted::any(0b100).clearing(), late());
        expect(answer == Ok(0b100), "an answer", round.into())?;
    }
    other.join().map_err(failed)?;
    expect(FLAGS.get() == 0, "each flag taken", FLAGS.get().into())
}

/// Bytes pass through a small pipe to a mailbox, which keeps the last value.
fn stream() -> Result<(), Failure> {
    static PIPE: Pipe<7> = Pipe::new();
    static SUM: Mailbox<u32> = Mailbox::new();
    let writes = || (0..ROUNDS).for_each(|byte| PIPE.write(&[byte as u8; 5]));
    let writer = spawn_somewhere(1, &A, 0, writes)?;
    let reads = || {
        let (mut bytes, mut count, mut sum) = ([0; 11], 0, 0);
        while count < ROUNDS * 5 {
            let read = PIPE.read(&mut bytes);
            sum += bytes
                .iter()
                .take(read)
                .map(|&byte| u32::from(byte))
                .sum::<u32>();
            count += read as u32;
            let _ = SUM.post(sum);
        }
    };
    let reader = spawn_somewhere(2, &B, 0, reads)?;
    let expected = (0..ROUNDS).map(|byte| byte % 256 * 5).sum();
    let mut sum = 0;
    while sum < expected {
        sum = SUM.fetch();
    }
    writer.join().map_err(failed)?;
    reader.join().map_err(failed)?;
    expect(sum == expected, "the sum of all bytes", sum.into())
}

/// Storage of an ended thread is reused repeatedly.
fn many_lives() -> Result<(), Failure> {
    static LIVES: AtomicU32 = AtomicU32::new(0);
    let mut last = None;
    for round in 0..ROUNDS {
        let body = || {
            LIVES.fetch_add(1, Relaxed);
        };
        let thread = spawn_somewhere(round as usize, &A, (round % 3) as i8 - 1, body)?;
        thread.join().map_err(failed)?;
        let stale = last.replace(thread).map(Handle::has_ended);
        expect(stale != Some(false), "the last one ended", round.into())?;
    }
    let lives = LIVES.load(Relaxed);
    expect(lives == ROUNDS, "all lives", lives.into())
}
