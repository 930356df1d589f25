//! Sending signals.

use crate::pending::{Information, PROCESS, USER};
use crate::signal::action::{self, Outcome};
use crate::signal::deliver::{Sent, post};
use crate::signal::{pool, set};
use crate::table::{LOCK, Name, find};
use crate::{Slot, wait};
use core::ffi::c_int;
use tenon_libc::errno::{self, Errno};

/// `SI_QUEUE`: sent by `sigqueue`.
const QUEUE: c_int = 2;

/// The number of a signal that may be sent; none for 0, which only asks whether it may be.
fn sendable(signal: c_int) -> Result<Option<u32>, Errno> {
    if signal == 0 {
        return Ok(None);
    }
    let number = set::number(signal)?;
    let outcome = LOCK.masked(|(), _| action::of(number).outcome(number));
    // Nobody could continue what stopped.
    (outcome != Outcome::Stopped)
        .then_some(Some(number))
        .ok_or(Errno::EINVAL)
}

/// Sends what carries nothing; a realtime signal comes as often as it is sent, as long as there is
/// room.
fn send(to: Option<&'static Slot>, signal: u32) {
    LOCK.waking(|(), waking| {
        let queued = (signal >= set::FIRST_REALTIME).then(|| {
            pool::entry(Information {
                signal: signal as c_int,
                code: USER,
                process: PROCESS,
                ..Information::default()
            })
        });
        let sent = match queued {
            Some(Ok(entry)) => Sent::Queued(entry),
            _ => Sent::Plain(signal),
        };
        post(waking, to, sent);
    });
    // What is for the calling thread comes before this returns.
    wait::attend();
}

/// Whether that is the program.
fn is_program(process: c_int) -> Result<(), Errno> {
    // Itself, its group, or all there are.
    matches!(process, PROCESS | 0 | -1)
        .then_some(())
        .ok_or(Errno::ESRCH)
}

/// Sends a signal to the program.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn kill(process: c_int, signal: c_int) -> c_int {
    errno::report((|| {
        let signal = sendable(signal)?;
        is_program(process)?;
        signal.inspect(|&signal| send(None, signal));
        Ok(())
    })())
}

/// Sends a signal to a thread.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_kill(name: Name, signal: c_int) -> c_int {
    errno::number((|| {
        let slot = LOCK.masked(|(), _| find(name))?;
        let signal = sendable(signal)?;
        // One that has ended and was not joined yet has no use for it.
        if slot.thread().is_some() {
            signal.inspect(|&signal| send(Some(slot), signal));
        }
        Ok(())
    })())
}

/// Sends a signal to the calling thread.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn raise(signal: c_int) -> c_int {
    errno::report(sendable(signal).map(|signal| {
        signal.inspect(|&signal| send(Some(crate::current()), signal));
    }))
}

/// Sends a signal with a value to the program; the value is a `union sigval`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn sigqueue(process: c_int, signal: c_int, value: usize) -> c_int {
    let sent = (|| {
        let number = sendable(signal)?;
        is_program(process)?;
        let Some(_) = number else { return Ok(()) };
        LOCK.waking(|(), waking| {
            let entry = pool::entry(Information {
                signal,
                code: QUEUE,
                process: PROCESS,
                value,
                ..Information::default()
            })?;
            post(waking, None, Sent::Queued(entry));
            Ok(())
        })
    })();
    wait::attend();
    errno::report(sent)
}
