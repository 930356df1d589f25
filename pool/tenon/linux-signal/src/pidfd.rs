//! [`pidfd_open`], [`pidfd_send_signal`] and [`pidfd_getfd`]: descriptors that name processes.
//!
//! A descriptor names the process that had the number at its opening: it names none once that has
//! been collected, also when another one has the number.

use crate::action::signal;
use crate::send::send;
use tenon_linux_files::descriptor::{Described, open};
use tenon_linux_files::flag::{CLOSE_ON_EXEC, NONBLOCK};
use tenon_process::user_memory;
use tenon_process::{AtEnd, Caller, Errno, Object, Operations, State, Target, ready, with_state};
use tenon_signal::{Info, code};

/// Descriptions at a time.
const DESCRIPTIONS: u32 = 1024;

/// A description that names a process.
#[derive(Debug)]
struct Name {
    process: u32,
    ended: bool,
    source: u32,
}

static TABLE: Described<Name> = Described::new(DESCRIPTIONS);

static OPERATIONS: Operations = Operations {
    events: |_, number| match TABLE.with(number, |name| name.ended) {
        Ok(true) => ready::READABLE | ready::READABLE_NORMAL,
        _ => 0,
    },
    close: |_, number, frames| TABLE.remove(number, frames),
    ..Operations::NONE
};

static AT_END: AtEnd = AtEnd::new(end);

/// A process has ended: descriptors that name it are ready.
fn end(state: &mut State, process: u32) {
    let mut from = 0;
    while let Some(number) = TABLE.next(from) {
        from = number + 1;
        let source = TABLE.with(number, |name| {
            let ends = name.process == process && !name.ended;
            name.ended |= ends;
            ends.then_some(name.source)
        });
        if let Ok(Some(source)) = source {
            state.files.notify(source, ready::READABLE);
        }
    }
}

/// `pidfd_open`.
pub fn pidfd_open(caller: &Caller) -> Result<u64, Errno> {
    let flags = caller.argument(1) as u32;
    let number = u32::try_from(caller.int(0)).map_err(|_| Errno::EINVAL)?;
    if flags & !NONBLOCK != 0 || number == 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let process = state.process_of(number).ok_or(Errno::ESRCH)?;
        if process.number != number {
            return Err(Errno::EINVAL);
        }
        let ended = process.space.is_none() && process.end.is_some();
        create(state, caller, (number, ended), flags).map(|(descriptor, _)| descriptor)
    })
}

/// Creates a descriptor that names a process, which may have ended. Returns it with the number of its
/// description, by which [`set_process`] gives it another process.
pub fn create(
    state: &mut State,
    caller: &Caller,
    (process, ended): (u32, bool),
    flags: u32,
) -> Result<(u64, u32), Errno> {
    let name = Name {
        process,
        ended,
        source: u32::MAX,
    };
    state.on_end.add(&AT_END);
    let number = TABLE.insert(state, caller, name)?;
    let flags = flags | CLOSE_ON_EXEC;
    let descriptor = open(state, caller, (&OPERATIONS, number), flags, |source| {
        let noted = TABLE.with(number, |name| name.source = source);
        debug_assert!(noted.is_ok());
    })?;
    Ok((descriptor, number))
}

/// Has a description name another process, which has just been created.
pub fn set_process(description: u32, process: u32) {
    let named = TABLE.with(description, |name| name.process = process);
    debug_assert!(named.is_ok());
}

/// The number of the process that a descriptor names, and whether the caller does not wait for it.
pub(crate) fn process_of(
    state: &mut State,
    caller: &Caller,
    descriptor: i32,
) -> Result<(u32, bool), Errno> {
    let (process, _, files) = caller.parts(state)?;
    let description = files.get(&process.descriptor(descriptor)?.file)?;
    let no_wait = description.flags & NONBLOCK != 0;
    match description.object {
        Object::Special(special) if core::ptr::eq(special.operations, &raw const OPERATIONS) => {
            let (number, ended) = TABLE.with(special.number, |name| (name.process, name.ended))?;
            // Another process may have the number.
            let other = state
                .process_of(number)
                .is_none_or(|found| found.end.is_none());
            if ended && other {
                return Err(Errno::ESRCH);
            }
            Ok((number, no_wait))
        }
        _ => Err(Errno::EBADF),
    }
}

/// The process that gets a signal: the one that a descriptor names, or the one that it shows as a
/// directory of `/proc`.
fn receiver(state: &mut State, caller: &Caller, descriptor: i32) -> Result<u32, Errno> {
    let (process, _, files) = caller.parts(state)?;
    let object = files.get(&process.descriptor(descriptor)?.file)?.object;
    if let Object::Directory(inode) = object {
        return tenon_fs_proc::process_of_directory(state, inode);
    }
    process_of(state, caller, descriptor).map(|(process, _)| process)
}

/// `pidfd_send_signal`.
pub fn pidfd_send_signal(caller: &Caller) -> Result<u64, Errno> {
    if caller.argument(3) as u32 != 0 {
        return Err(Errno::EINVAL);
    }
    let from = caller.address(2);
    with_state(|state| {
        let process = receiver(state, caller, caller.int(0))?;
        let info = if from == 0 {
            let own = caller.process();
            let signal = signal(caller, 1)?;
            let user = caller.parts(state)?.0.credentials.user().real;
            Info::of_sender(signal, code::USER, own, user)
        } else {
            let mut bytes = [0; Info::USED];
            user_memory::read(state, caller, from, &mut bytes)?;
            let signal = signal(caller, 1)?;
            if bytes[..4] != u32::from(signal).to_le_bytes() {
                return Err(Errno::EINVAL);
            }
            let info = Info::decode(signal, &bytes);
            let refused = info.code >= 0 || info.code == code::THREAD;
            if refused && process != caller.process() {
                return Err(Errno::EPERM);
            }
            info
        };
        send(state, caller, Target::Process(process), &info)?;
        Ok(0)
    })
}

/// `pidfd_getfd`: a descriptor of what another process has open.
pub fn pidfd_getfd(caller: &Caller) -> Result<u64, Errno> {
    if caller.argument(2) as u32 != 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let (number, _) = process_of(state, caller, caller.int(0))?;
        let own = caller.parts(state)?.0.credentials.clone();
        let other = state.by_number(number)?;
        if other.end.is_some() {
            return Err(Errno::ESRCH);
        }
        if number != caller.process() && !own.may_look(&other.credentials) {
            return Err(Errno::EPERM);
        }
        let (process, _, files) = state.parts_of(number)?;
        let file = files.share(&process.descriptor(caller.int(1))?.file);
        caller.install(state, file, true)
    })
}
