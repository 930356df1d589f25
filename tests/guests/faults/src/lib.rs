//! Guest that causes each kind of application fault once.
//!
//! Each fault ends the image, and Mortise restarts it. The number of restarts, from the status page,
//! selects the next fault. The test checks the console output.

#![no_std]
#![expect(unsafe_code, reason = "what safe code cannot do wrong")]

use core::hint::black_box;
use tenon::environment;
use tenon::thread::{Packed, Priority, Storage};
use tenon::time::{self, Duration, Instant, Timer};
use tenon_watchdog::Watch;

/// A fault and its name. The function never returns.
type Case = (&'static str, fn());

const CASES: &[Case] = &[
    ("overflow of a thread", overflow_in_thread),
    ("overflow of a handler", overflow_in_handler),
    ("overflow of a packed thread", overflow_in_packed),
    ("write to code", write_to_code),
    ("write to a constant", write_to_constant),
    ("execution of data", execute_data),
    ("null pointer", follow_null),
    ("wild pointer", follow_wild),
    ("watchdog", hang),
    ("overflow in a line", overflow_in_line),
    ("panic", give_up),
];

static THREAD: Storage<4096> = Storage::new();

/// Main thread: causes the fault that the number of restarts selects, or ends.
pub fn main() {
    let restarts = environment::status().map_or(0, |status| status.snapshot().restarts);
    let Some((name, fail)) = CASES.get(restarts as usize) else {
        tenon::log::info!("faults: all tried");
        return;
    };
    tenon::log::info!("trying: {name}");
    fail();
    // The fault may occur in another thread or in a handler.
    time::sleep(Duration::from_millis(20));
    tenon::log::error!("faults: {name} went well");
}

/// Recurses until the stack overflows.
#[expect(unconditional_recursion, reason = "the stack is what ends it")]
fn descend(depth: u64) -> u64 {
    let frame = black_box([depth; 16]);
    descend(depth + 1) + frame[depth as usize % 16]
}

fn overflow_in_thread() {
    let body = || {
        black_box(descend(black_box(0)));
    };
    // A stack that is too small at spawn is an error, not a fault.
    let _ = THREAD.spawn("deep", Priority::new(20), body);
}

/// Recurses to this depth.
fn descend_to(depth: u64) -> u64 {
    let frame = black_box([depth; 16]);
    match depth {
        0 => 0,
        _ => descend_to(depth - 1) + frame[depth as usize % 16],
    }
}

/// Overflow of a stack without a guard page: found when the thread blocks, in images with assertions.
fn overflow_in_packed() {
    static THREADS: [Packed<2048>; 2] = [const { Packed::new() }; 2];
    let body = || {
        black_box(descend_to(black_box(14)));
        time::sleep(Duration::from_millis(1));
    };
    let _ = THREADS[1].spawn("packed", Priority::new(20), body);
}

fn overflow_in_handler() {
    static TIMER: Timer = Timer::new(|| {
        black_box(descend(black_box(0)));
    });
    TIMER.start(Instant::now());
}

/// Logs a line at each level of a recursion, until the stack overflows within the log call.
fn overflow_in_line() {
    #[expect(unconditional_recursion, reason = "the stack is what ends it")]
    fn descend(depth: u64) -> u64 {
        tenon::log::info!("deeper");
        descend(depth + 1) + black_box(depth)
    }
    let body = || {
        black_box(descend(black_box(0)));
    };
    let _ = THREAD.spawn("writer", Priority::new(20), body);
}

fn write_to_code() {
    let code = black_box(main as fn() as *mut u32);
    // SAFETY: the access faults before it has an effect; the image ends there.
    unsafe { code.write_volatile(0) };
}

fn write_to_constant() {
    static CONSTANT: [u32; 4] = [1, 2, 3, 4];
    let constant = black_box(CONSTANT.as_ptr().cast_mut());
    // SAFETY: the access faults before it has an effect; the image ends there.
    unsafe { constant.write_volatile(0) };
}

fn execute_data() {
    /// `ret`.
    const RETURN: u32 = 0xd65f_03c0;
    let code = black_box([RETURN; 2]);
    // SAFETY: the access faults before it has an effect; the image ends there.
    let function: fn() = unsafe { core::mem::transmute(code.as_ptr()) };
    function();
}

fn follow_null() {
    let nothing = black_box(core::ptr::null::<[u32; 4]>()).cast::<u32>();
    // SAFETY: the access faults before it has an effect; the image ends there.
    black_box(unsafe { nothing.wrapping_add(2).read_volatile() });
}

fn follow_wild() {
    let wild = black_box(0x4060_0000 as *const u32);
    // SAFETY: the access faults before it has an effect; the image ends there.
    black_box(unsafe { wild.read_volatile() });
}

fn hang() {
    let body = || {
        let watch = Watch::start(Duration::from_millis(2));
        for _ in 0..3 {
            time::sleep(Duration::from_millis(1));
            watch.iter().for_each(Watch::check_in);
        }
        loop {
            core::hint::spin_loop();
        }
    };
    let _ = THREAD.spawn("hung", Priority::new(10), body);
}

fn give_up() {
    panic!("an application gave up");
}
