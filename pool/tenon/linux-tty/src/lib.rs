//! Console as the [`Terminal`](tenon_tty::Terminal) of processes.
//!
//! A thread with the priority of processes takes what arrives at the console, has the terminal edit and
//! echo it, sends the signals of characters, and notifies readers; it is started with the first
//! use of the terminal. [`read`] and [`write()`](write) are what `read` and `write` do with the console,
//! [`request`] is `ioctl`.
//!
//! Guarantees: the thread takes at most 64 bytes at a time, and sleeps in between; no interrupt is
//! masked for longer than the output of a few bytes takes. What arrives while there is no room for it
//! is dropped with a bell.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod jobs;
mod reader;
mod request;

pub use request::request;

use tenon_process::{Caller, Errno, Files, State, ready};
use tenon_sync::Mutex;
use tenon_thread::input;
use tenon_thread::output;
use tenon_thread::time::Duration;
use tenon_tty::{Room, Terminal, character, control};

static ROOM: Room = Room::new();
/// The terminal.
static TERMINAL: Mutex<Terminal> = Mutex::new(Terminal::new(&ROOM));

/// A tenth of a second, of which `VTIME` states some.
const TENTH: Duration = Duration::from_millis(100);

/// Calls `action` with the terminal.
fn with<R>(action: impl FnOnce(&mut Terminal) -> R) -> Result<R, Errno> {
    let mut terminal = TERMINAL.lock().map_err(|_| Errno::EIO)?;
    Ok(action(&mut terminal))
}

/// The source of the terminal's events. The first call starts what takes its input.
pub fn source(state: &mut State) -> Result<u32, Errno> {
    if let Some((_, source)) = state.files.console {
        return Ok(source);
    }
    let source = state.files.new_source(&mut state.frames)?;
    state.files.console = Some((events, source));
    // The session of the first process is that of the console.
    let first = state.next_process(0);
    let (session, group) = first.map_or((0, 0), |first| (first.session, first.group));
    with(|terminal| (terminal.session, terminal.foreground) = (session, group))?;
    if input::is_available() {
        reader::start(source)?;
    }
    Ok(source)
}

/// What the terminal is ready for.
fn events(_: &mut Files) -> u16 {
    const READABLE: u16 = ready::READABLE | ready::READABLE_NORMAL;
    const WRITABLE: u16 = ready::WRITABLE | ready::WRITABLE_NORMAL;
    let ready = with(|terminal| {
        let readable = terminal.available() > 0 || !input::is_available();
        let writable = !terminal.is_stopped();
        (if readable { READABLE } else { 0 }) | if writable { WRITABLE } else { 0 }
    });
    ready.unwrap_or(ready::ERROR)
}

/// How many bytes a read waits for, and how long: `VMIN` and `VTIME`, nothing for lines.
fn least(terminal: &Terminal) -> Option<(usize, Duration)> {
    let attributes = terminal.attributes();
    let byte = |index: usize| attributes.characters[index];
    (!attributes.has(control::CANONICAL)).then(|| {
        let tenths = u32::from(byte(character::TIME));
        (byte(character::LEAST).into(), TENTH * tenths)
    })
}

/// Reads a line or the bytes that there are; `None` if the caller has to wait for them.
pub fn read(state: &mut State, caller: &Caller, to: &mut [u8]) -> Result<Option<usize>, Errno> {
    source(state)?;
    // A console without input is at its end.
    if to.is_empty() || !input::is_available() {
        return Ok(Some(0));
    }
    jobs::check(state, caller, jobs::Access::Read)?;
    with(|terminal| {
        if let Some((least, time)) = least(terminal) {
            let wanted = if time.is_zero() {
                least.min(to.len())
            } else {
                1
            };
            if terminal.available() < wanted.max(usize::from(!time.is_zero())) {
                return None;
            }
            return Some(terminal.read(to).unwrap_or(0));
        }
        terminal.read(to)
    })
}

/// The longest wait of a read, where the attributes state one.
#[must_use]
pub fn timeout() -> Option<Duration> {
    let least = with(|terminal| least(terminal)).ok()??;
    let (bytes, time) = least;
    // With `VMIN` the first byte is waited for without an end.
    (bytes == 0 && !time.is_zero()).then_some(time)
}

/// Whether a process may write now; `false` if it has to wait for the output to be started.
pub fn may_write(state: &mut State, caller: &Caller) -> Result<bool, Errno> {
    source(state)?;
    let stops = with(|terminal| terminal.attributes().has(control::STOP_BACKGROUND))?;
    if stops {
        jobs::check(state, caller, jobs::Access::Write)?;
    }
    with(|terminal| !terminal.is_stopped())
}

/// Writes bytes of a process to the console, by the attributes of output.
pub fn write(bytes: &[u8]) {
    /// Bytes that are passed to the console at a time.
    const PART: usize = 64;
    let mut part = [0; PART];
    let mut filled = 0;
    // A terminal that cannot be used has no output.
    let _ = with(|terminal| {
        terminal.send(bytes, &mut |bytes| {
            for byte in bytes {
                if filled == PART {
                    output::write(&part);
                    filled = 0;
                }
                part[filled] = *byte;
                filled += 1;
            }
        });
    });
    output::write(&part[..filled]);
}
