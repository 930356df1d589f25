//! Foreground and background groups of the session that the [`Terminal`] controls.

use crate::with;
use tenon_process::{Caller, Errno, State, Target};
use tenon_signal::{Info, code, number};
use tenon_tty::{Signal, Terminal};

/// What a process does with its terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It reads.
    Read,
    /// It writes, or changes attributes.
    Write,
}

/// Whether a process is in a background group of the terminal's session.
fn is_background(terminal: &Terminal, session: u32, group: u32) -> bool {
    terminal.session == session && terminal.foreground != group
}

/// Sends a signal of the kernel to a group, if it has a process.
fn send(state: &mut State, group: u32, signal: u8) {
    let info = Info::of_sender(signal, code::KERNEL, 0, 0);
    // A group without a process gets none.
    let _ = state.send(Target::Group(group), &info);
}

/// Has the group of a background process stopped instead of an access to its terminal. Where nothing
/// would continue it, or it does not take the signal, a read is an error, and a write goes on unless
/// the group is orphaned.
pub(crate) fn check(state: &mut State, caller: &Caller, access: Access) -> Result<(), Errno> {
    let process = caller.parts(state)?.0;
    let (session, group) = (process.session, process.group);
    if !with(|terminal| is_background(terminal, session, group))? {
        return Ok(());
    }
    let (signal, reads) = match access {
        Access::Read => (number::TTIN, true),
        Access::Write => (number::TTOU, false),
    };
    let (index, place) = caller.indices(state)?;
    let ignored = state.signals.shared(index).action(signal).ignores(signal);
    let blocked = state.signals.own(place).mask.has(signal);
    if ignored || blocked {
        return if reads { Err(Errno::EIO) } else { Ok(()) };
    }
    if state.is_orphaned(group) {
        return Err(Errno::EIO);
    }
    send(state, group, signal);
    Err(Errno::ERESTARTSYS)
}

/// Sends the signal of a character to the foreground group.
pub(crate) fn signal(state: &mut State, signal: Signal) {
    let number = match signal {
        Signal::Interrupt => number::INT,
        Signal::Quit => number::QUIT,
        Signal::Suspend => number::TSTP,
    };
    to_foreground(state, number);
}

fn to_foreground(state: &mut State, signal: u8) {
    if let Ok(group) = with(|terminal| terminal.foreground)
        && group != 0
    {
        send(state, group, signal);
    }
}

/// Tells the foreground group that the size of the screen is another one.
pub(crate) fn resized(state: &mut State) {
    to_foreground(state, number::WINCH);
}

/// Ends the control of a session that ended with the process which began it.
pub(crate) fn hang_up(state: &mut State) {
    let Ok((session, foreground)) = with(|terminal| (terminal.session, terminal.foreground)) else {
        return;
    };
    let lives = |process: &tenon_process::Process| process.end.is_none();
    if session == 0 || state.by_number(session).is_ok_and(|leader| lives(leader)) {
        return;
    }
    send(state, foreground, number::HUP);
    send(state, foreground, number::CONT);
    let _ = with(|terminal| (terminal.session, terminal.foreground) = (0, 0));
}
