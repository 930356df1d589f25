//! Thread that takes the input of the console: [`start`].

use crate::{jobs, with};
use tenon_process::{Errno, ready, with_state};
use tenon_thread::thread::{Priority, Storage};
use tenon_thread::time::{Duration, sleep};
use tenon_thread::{input, options, output};

/// Bytes that are taken at a time.
const MOST: usize = 64;
/// Interval at which the console is looked at while bytes arrive, and after a while without any.
const BUSY: Duration = Duration::from_millis(2);
const IDLE: Duration = Duration::from_millis(10);
/// Looks without a byte before the longer interval.
const PATIENCE: u32 = 50;

static THREAD: Storage<8192> = Storage::new();

/// Starts the thread.
pub(crate) fn start(source: u32) -> Result<(), Errno> {
    let priority = Priority::new(options::process_priority() as u8);
    let started = THREAD.spawn("terminal", priority, move || serve(source));
    started.map(drop).map_err(|_| Errno::EIO)
}

fn serve(source: u32) -> ! {
    let mut silent = 0;
    loop {
        if take(source) {
            silent = 0;
        } else {
            silent = PATIENCE.min(silent + 1);
            with_state(jobs::hang_up);
        }
        sleep(if silent < PATIENCE { BUSY } else { IDLE });
    }
}

/// Takes what has arrived; returns whether that was something.
fn take(source: u32) -> bool {
    let mut any = false;
    for _ in 0..MOST {
        let Some(byte) = input::read_byte() else {
            break;
        };
        any = true;
        let signal = with(|terminal| terminal.receive(byte, &mut output::write));
        if let Ok(Some(signal)) = signal {
            with_state(|state| jobs::signal(state, signal));
        }
    }
    if any {
        with_state(|state| {
            let events = ready::READABLE | ready::WRITABLE;
            state.files.notify(source, events);
        });
    }
    any
}
