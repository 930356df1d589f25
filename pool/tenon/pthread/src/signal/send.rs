//! Calls that send signals (POSIX.1-2017, `kill`, `sigqueue`).

use crate::pending::{PROCESS, SigInfo, USER};
use crate::signal::action::{self, Outcome};
use crate::signal::deliver::{Sent, post};
use crate::signal::{pool, set};
use crate::table::{LOCK, ThreadId, find};
use crate::{Slot, wait};
use core::ffi::c_int;
use tenon_libc::errno::{self, Errno};

/// `SI_QUEUE`: sent by `sigqueue`.
const QUEUE: c_int = 2;

/// Checks the number of a signal to send; `None` for 0, which sends nothing.
fn sendable(signal: c_int) -> Result<Option<u32>, Errno> {
    if signal == 0 {
        return Ok(None);
    }
    let number = set::number(signal)?;
    let outcome = LOCK.masked(|(), _| action::of(number).outcome(number));
    // No other process could continue a stopped one.
    (outcome != Outcome::Stopped)
        .then_some(Some(number))
        .ok_or(Errno::EINVAL)
}

/// Sends a signal without a value; a realtime signal is queued while entries are free.
fn send(to: Option<&'static Slot>, signal: u32) {
    LOCK.waking(|(), waking| {
        let queued = (signal >= set::FIRST_REALTIME).then(|| {
            pool::entry(SigInfo {
                signal: signal as c_int,
                code: USER,
                process: PROCESS,
                ..SigInfo::default()
            })
        });
        let sent = match queued {
            Some(Ok(entry)) => Sent::Queued(entry),
            _ => Sent::Plain(signal),
        };
        post(waking, to, sent);
    });
    // A signal for the calling thread is delivered before this returns.
    wait::act_on_pending();
}

/// Checks that `process` names the program.
fn is_program(process: c_int) -> Result<(), Errno> {
    // The process, its group, or all processes.
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
pub extern "C" fn pthread_kill(name: ThreadId, signal: c_int) -> c_int {
    errno::number((|| {
        let slot = LOCK.masked(|(), _| find(name))?;
        let signal = sendable(signal)?;
        // A thread that has ended but is not joined yet receives nothing.
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

/// Sends a signal with a `union sigval` to the program.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn sigqueue(process: c_int, signal: c_int, value: usize) -> c_int {
    let sent = (|| {
        let number = sendable(signal)?;
        is_program(process)?;
        let Some(_) = number else { return Ok(()) };
        LOCK.waking(|(), waking| {
            let entry = pool::entry(SigInfo {
                signal,
                code: QUEUE,
                process: PROCESS,
                value,
                ..SigInfo::default()
            })?;
            post(waking, None, Sent::Queued(entry));
            Ok(())
        })
    })();
    wait::act_on_pending();
    errno::report(sent)
}
