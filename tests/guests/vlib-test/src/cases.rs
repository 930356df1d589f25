//! Test cases of vLib calls.

use crate::TIME_IS_VIRTUAL;
use crate::budgets::{asynchronous_served, budget, served};
use crate::server::{Ask, Server, progress, stands_still};
use core::cell::Cell;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use hw_arch::firmware::hypercall4;
use tenon::thread::{self, Priority, Storage};
use tenon::time::{self, Duration, Instant};
use tenon_vlib::Error;
use tenon_vm::{Listed, State, Vm};

/// A failure: description and value.
pub type Verdict = Result<(), (&'static str, u64)>;

/// A case, its name, and whether it measures time: the emulated clock is exact to an instruction while
/// a single core is busy.
pub type Case = (&'static str, fn(&mut Server) -> Verdict, bool);

/// The cases in order; the last ones end the server.
pub const CASES: &[Case] = &[
    ("calls", calls, false),
    ("stands still", stands_still_between, false),
    ("lent", lent, true),
    ("time-out", time_out, true),
    ("late", late, true),
    ("another channel", another_channel, true),
    ("first come", first_come, false),
    ("asynchronous", asynchronous, true),
    ("descheduled", descheduled, false),
    ("budget", budget, true),
    ("served", served, true),
    ("asynchronous on a budget", asynchronous_served, true),
    ("paused", paused, true),
    ("forged", forged, false),
    ("door", door, false),
    ("unload", unload, false),
    ("spoilt", spoilt, false),
    ("program ends", program_ends, false),
    ("never answers", never_answers, true),
    ("starts anew", starts_anew, false),
];

pub fn expect(fine: bool, what: &'static str, found: u64) -> Verdict {
    match fine {
        true => Ok(()),
        false => Err((what, found)),
    }
}

/// Checks the outcome of a call.
pub fn expect_answer(answer: Result<u64, Error>, expected: Result<u64, Error>) -> Verdict {
    if let (Err(error), true) = (answer, answer != expected) {
        tenon::log::error!("caller: {error}");
    }
    expect(answer == expected, "an answer", answer.unwrap_or(u64::MAX))
}

fn calls(server: &mut Server) -> Verdict {
    (0..1_000).try_for_each(|n| expect_answer(server.ask(Ask::Next, n), Ok(n + 1)))
}

fn stands_still_between(server: &mut Server) -> Verdict {
    // Another process, perhaps on another core of Linux, runs only during calls.
    expect_answer(server.ask(Ask::Crowd, 1), Ok(0))?;
    for _ in 0..5 {
        let before = progress();
        expect_answer(server.ask(Ask::Spin, 10_000_000), Ok(0))?;
        let counted = progress() - before;
        expect(counted > 1_000, "it does not run in a call", counted)?;
        expect(stands_still(5_000), "it runs between calls", progress())?;
    }
    expect_answer(server.ask(Ask::Crowd, 0), Ok(0))
}

/// The server sleeps: other processes of Linux run on the caller's time.
fn lent(server: &mut Server) -> Verdict {
    const REST: u64 = 20;
    expect_answer(server.ask(Ask::Crowd, 1), Ok(0))?;
    server.write(Ask::Rest, 1_000_000 * REST);
    for _ in 0..4 {
        let before = progress();
        expect_answer(server.go_on(1_000), Err(Error::TimedOut))?;
        let ran = progress() - before;
        expect(ran > 1_000, "nobody runs as it sleeps", ran)?;
        expect(stands_still(4_000), "it runs on nobody's time", progress())?;
    }
    // By its own clock it has slept for 4 ms, or has been asleep for 20.
    let answer = Cell::new(Ok(0));
    let took = during(|| answer.set(server.go_on(60_000)));
    expect_answer(answer.get(), Ok(0))?;
    let rest = match TIME_IS_VIRTUAL.load(Ordering::Relaxed) {
        true => 1_000_000 * (REST - 5)..1_000_000 * REST,
        false => 0..1_000_000,
    };
    expect(rest.contains(&took), "the rest of its sleep", took)?;
    expect_answer(server.ask(Ask::Crowd, 0), Ok(0))
}

/// Duration of a function in ns.
fn during(action: impl FnOnce()) -> u64 {
    let start = Instant::now();
    action();
    Instant::now().since(start).as_nanos() as u64
}

/// Maximum delay in ns of a call's return after its time-out.
pub static LATEST: AtomicU64 = AtomicU64::new(0);

/// Checks that a call times out after this many us, and not later.
fn gives_up(server: &mut Server, micros: u64) -> Verdict {
    let answer = Cell::new(Ok(0));
    let took = during(|| answer.set(server.go_on(micros)));
    expect_answer(answer.get(), Err(Error::TimedOut))?;
    let late = took.wrapping_sub(1_000 * micros);
    expect(late < 2_000, "not in time", late)?;
    LATEST.fetch_max(late, Ordering::Relaxed);
    Ok(())
}

fn time_out(server: &mut Server) -> Verdict {
    for micros in [50, 137, 1_000, 4_321] {
        server.write(Ask::Spin, 20_000_000);
        gives_up(server, micros)?;
        expect(stands_still(500), "it runs after a time-out", progress())?;
        expect_answer(server.go_on(60_000), Ok(0))?;
    }
    Ok(())
}

fn late(server: &mut Server) -> Verdict {
    // One call of 2 ms in steps of 300 us.
    let count = server.ask(Ask::Count, 0).unwrap_or(0);
    server.write(Ask::Spin, 2_000_000);
    let parts = (1..20).find(|_| server.go_on(300) == Ok(0)).unwrap_or(0);
    expect((6..=12).contains(&parts), "parts", parts)?;
    expect_answer(server.ask(Ask::Count, 0), Ok(count + 2))
}

fn another_channel(server: &mut Server) -> Verdict {
    let mut other = Server::open().map_err(|_| ("no other channel", 0))?;
    expect_answer(
        server.ask_for(Ask::Spin, 1_000_000, 100),
        Err(Error::TimedOut),
    )?;
    // The pending call is completed first, or the call times out.
    expect_answer(other.ask_for(Ask::Next, 5, 100), Err(Error::TimedOut))?;
    expect_answer(other.ask(Ask::Next, 7), Ok(8))?;
    let count = other.ask(Ask::Count, 0).unwrap_or(0);
    expect_answer(server.go_on(1_000), Ok(0))?;
    expect_answer(other.ask(Ask::Count, 0), Ok(count + 1))?;
    let closed = other.0.close();
    expect(closed.is_ok(), "not closed", 0)
}

/// Answers to the threads of the next case, in the order of their calls.
static COUNTS: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];
static ASKED: AtomicUsize = AtomicUsize::new(0);
static ENDED: AtomicUsize = AtomicUsize::new(0);
static ASKERS: [Storage<4096>; 3] = [const { Storage::new() }; 3];

fn first_come(server: &mut Server) -> Verdict {
    ASKED.store(0, Ordering::Relaxed);
    ENDED.store(0, Ordering::Relaxed);
    for (index, (storage, priority)) in ASKERS.iter().zip([17, 19, 18]).enumerate() {
        let asker = storage.spawn("asker", Priority::new(priority), move || {
            // The first call is in progress when the others arrive one after the other.
            time::sleep(Duration::from_millis(3 + index as u64));
            let mut asked = 0;
            let count = Server::open().and_then(|mut own| {
                asked = ASKED.fetch_add(1, Ordering::Relaxed);
                let count = own.ask(Ask::Count, 0);
                let _ = own.0.close();
                count
            });
            COUNTS[asked].store(count.unwrap_or(0), Ordering::Relaxed);
            ENDED.fetch_add(1, Ordering::Relaxed);
        });
        asker.map_err(|_| ("no thread", 0))?;
    }
    let count = server.ask(Ask::Count, 0).unwrap_or(0);
    expect_answer(server.ask(Ask::Spin, 12_000_000), Ok(0))?;
    while ENDED.load(Ordering::Relaxed) < 3 {
        time::sleep(Duration::from_millis(1));
    }
    let mut expected = count + 2..;
    COUNTS.iter().try_for_each(|found| {
        let found = found.load(Ordering::Relaxed);
        expect(expected.next() == Some(found), "not in turn", found)
    })
}

/// Results of asynchronous calls by argument.
static TOLD: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

fn asynchronous(server: &mut Server) -> Verdict {
    const DONE: u64 = 1;
    const OVER: u64 = 2;
    let tell = |word: usize, result: Result<(), Error>| {
        let told = match result {
            Ok(()) => DONE,
            Err(Error::TimedOut) => OVER,
            Err(_) => u64::MAX,
        };
        TOLD[word].store(told, Ordering::Relaxed);
    };
    TOLD.iter()
        .for_each(|told| told.store(0, Ordering::Relaxed));
    server.write(Ask::Spin, 1_000_000);
    let asked = server.0.call_async(None, tell, 0);
    expect(asked.is_ok(), "not asked for", 0)?;
    let again = server.0.call_async(None, tell, 0);
    expect(again == Err(Error::Busy), "asked for twice", 0)?;
    expect(server.0.call() == Err(Error::Busy), "called meanwhile", 0)?;
    expect(TOLD[0].load(Ordering::Relaxed) == 0, "it waited", 0)?;
    time::sleep(Duration::from_millis(20));
    let told = TOLD[0].load(Ordering::Relaxed);
    expect(told == DONE && server.answer() == 0, "not answered", told)?;
    server.write(Ask::Spin, 3_000_000);
    let deadline = Instant::now() + Duration::from_micros(500);
    let asked = server.0.call_async(Some(deadline), tell, 1);
    expect(asked.is_ok(), "not asked for", 1)?;
    time::sleep(Duration::from_millis(1));
    let told = TOLD[1].load(Ordering::Relaxed);
    expect(told == OVER, "not over", told)?;
    expect(stands_still(500), "it runs after its time", progress())?;
    expect_answer(server.go_on(60_000), Ok(0))
}

/// Number of times that Linux ran beside a thread of higher priority, and number of checks.
static RAN: AtomicU64 = AtomicU64::new(0);
static LOOKED: AtomicU64 = AtomicU64::new(0);
static URGENT: Storage<4096> = Storage::new();

/// Length and number of runs of the thread of higher priority.
const BURST: u64 = 200;
const BURSTS: u64 = 10;

fn descheduled(server: &mut Server) -> Verdict {
    RAN.store(0, Ordering::Relaxed);
    LOOKED.store(0, Ordering::Relaxed);
    let urgent = URGENT.spawn("urgent", Priority::new(40), || {
        for _ in 0..BURSTS {
            time::sleep(Duration::from_micros(150));
            let start = Instant::now();
            let heard = start + Duration::from_micros(30);
            while Instant::now() < heard {}
            let before = progress();
            while Instant::now() < start + Duration::from_micros(BURST) {}
            let ran = u64::from(progress() != before);
            RAN.fetch_add(ran, Ordering::Relaxed);
            LOOKED.fetch_add(1, Ordering::Relaxed);
        }
    });
    urgent.map_err(|_| ("no thread", 0))?;
    let before = progress();
    expect_answer(server.ask(Ask::Spin, 5_000_000), Ok(0))?;
    expect(progress() > before, "it did not run", before)?;
    let looked = LOOKED.load(Ordering::Relaxed);
    expect(looked == BURSTS, "not preempted", looked)?;
    let ran = RAN.load(Ordering::Relaxed);
    expect(ran == 0, "it ran while its caller did not", ran)
}

/// The VM of the server, if this VM manages it.
fn managed() -> Option<Vm> {
    (0..8).find_map(|slot| match Listed::at(slot) {
        Ok(Some(listed)) if listed.state == State::Running => Some(listed.vm),
        _ => None,
    })
}

fn paused(server: &mut Server) -> Verdict {
    let Some(vm) = managed() else {
        return Ok(());
    };
    let done = |result: Result<(), tenon_vm::Error>| expect(result.is_ok(), "refused", 0);
    // Pausing and stopping are independent: paused and resumed while stopped, it stays stopped.
    done(vm.pause())?;
    done(vm.resume())?;
    expect(stands_still(1_000), "it runs as it was resumed", progress())?;
    // A call while it is paused takes effect when it is resumed.
    done(vm.pause())?;
    expect_answer(server.ask_for(Ask::Next, 3, 500), Err(Error::TimedOut))?;
    expect(
        stands_still(1_000),
        "it runs while it is paused",
        progress(),
    )?;
    done(vm.resume())?;
    expect(stands_still(1_000), "it runs without time", progress())?;
    expect_answer(server.go_on(60_000), Ok(4))
}

fn forged(server: &mut Server) -> Verdict {
    const DENIED: u64 = -3_i64 as u64;
    const NOT_FOUND: u64 = -6_i64 as u64;
    for (function, vlib, expected) in [
        (0xc600_0405, 0, DENIED),
        (0xc600_0401, 1, NOT_FOUND),
        (0xc600_0402, u64::MAX, NOT_FOUND),
    ] {
        let [found, ..] = hypercall4(function, [vlib, 0, 0, 0]);
        expect(found == expected, "not refused", found)?;
    }
    // Calls to stop or continue without a call in progress have no effect.
    for function in [0xc600_0402, 0xc600_0403] {
        let _ = hypercall4(function, [0; 4]);
        expect(stands_still(500), "it runs without a call", progress())?;
    }
    expect_answer(server.ask(Ask::Next, 1), Ok(2))
}

fn door(server: &mut Server) -> Verdict {
    expect_answer(server.ask(Ask::Door, 0), Ok(10))
}

fn unload(server: &mut Server) -> Verdict {
    expect_answer(server.ask(Ask::Unload, 0), Ok(1))
}

fn spoilt(server: &mut Server) -> Verdict {
    for _ in 0..3 {
        let _ = server.ask(Ask::Spoil, 0);
        expect_answer(server.ask(Ask::Next, 9), Ok(10))?;
    }
    Ok(())
}

fn program_ends(server: &mut Server) -> Verdict {
    expect_answer(server.ask(Ask::Exit, 0), Err(Error::Gone))?;
    let listener = server.await_listener();
    expect(listener.is_ok(), "nobody listens again", 0)?;
    expect_answer(server.ask(Ask::Next, 1), Ok(2))
}

fn never_answers(server: &mut Server) -> Verdict {
    // It polls memory and never reads its clock.
    server.write(Ask::Never, 0);
    for micros in [400, 137, 1_000, 4_321, 50] {
        gives_up(server, micros)?;
        thread::yield_now();
    }
    expect(stands_still(1_000), "it runs after a time-out", progress())?;
    // The memory belongs to the server until the call has ended.
    let other = Server::open().map_err(|_| ("no other channel", 0))?;
    expect(other.0.close().is_ok(), "not closed", 0)
}

fn starts_anew(server: &mut Server) -> Verdict {
    // The last call never ends, so its VM must be ended.
    let Some(vm) = managed() else {
        return Ok(());
    };
    expect(vm.restart().is_ok(), "not restarted", 0)?;
    expect_answer(server.go_on(5_000_000), Err(Error::Gone))?;
    let listener = server.await_listener();
    expect(listener.is_ok(), "nobody listens again", 0)?;
    expect_answer(server.ask(Ask::Reboot, 0), Err(Error::Gone))?;
    let listener = server.await_listener();
    expect(listener.is_ok(), "nobody listens after a reboot", 0)?;
    calls(server)
}
