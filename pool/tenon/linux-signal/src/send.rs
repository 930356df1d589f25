//! System calls that send signals.

use crate::action::signal;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Process, State, Target, capability, with_state};
use tenon_signal::number::CONT;
use tenon_signal::{Info, code};

/// The number of the first process.
const FIRST: u32 = 1;

/// The number of a process or a thread, which is above zero.
fn number(caller: &Caller, index: usize) -> Result<u32, Errno> {
    let number = u32::try_from(caller.int(index)).ok();
    number.filter(|number| *number > 0).ok_or(Errno::EINVAL)
}

fn own(state: &mut State, caller: &Caller, signal: u8, code: i32) -> Result<Info, Errno> {
    let user = caller.parts(state)?.0.credentials.user().real;
    Ok(Info::of_sender(signal, code, caller.process(), user))
}

/// Whether a process may send a signal to another one: by its users, by a capability, or to continue
/// what its session has.
fn permits(sender: &Process, receiver: &Process, signal: u8) -> bool {
    let (own, ids) = (sender.credentials.user(), receiver.credentials.user());
    let is_own = |user| [ids.real, ids.saved].contains(&user);
    is_own(own.real)
        || is_own(own.effective)
        || sender.credentials.has(capability::KILL)
        || signal == CONT && sender.session == receiver.session
}

/// Sends a signal to a target, if the caller may; to several processes to those to which it may.
pub(crate) fn send(
    state: &mut State,
    caller: &Caller,
    target: Target,
    info: &Info,
) -> Result<(), Errno> {
    let own = caller.process();
    if target == Target::Process(own) {
        return state.send(target, info);
    }
    let sender = state.process_of(own).ok_or(Errno::ESRCH)?;
    let group = match target {
        Target::Process(number) | Target::Thread(_, number) => {
            let receiver = state.process_of(number);
            if receiver.is_some_and(|receiver| !permits(sender, receiver, info.signal)) {
                return Err(Errno::EPERM);
            }
            return state.send(target, info);
        }
        _ if sender.credentials.has(capability::KILL) => return state.send(target, info),
        Target::Group(group) => Some(group),
        Target::Others(_) => None,
    };
    let (mut result, mut next) = (Err(Errno::ESRCH), 0);
    while let Some(receiver) = state.next_process(next) {
        let number = receiver.number;
        next = number + 1;
        let included = match group {
            Some(group) => receiver.group == group,
            None => number != FIRST && number != own,
        };
        if !included {
            continue;
        }
        let sender = state.process_of(own).ok_or(Errno::ESRCH)?;
        let sent = if permits(sender, receiver, info.signal) {
            state.send(Target::Process(number), info)
        } else if group.is_some() {
            Err(Errno::EPERM)
        } else {
            // Of all processes, as in Linux.
            Ok(())
        };
        result = result.or(sent);
    }
    result
}

/// `kill`.
pub fn kill(caller: &Caller) -> Result<u64, Errno> {
    let signal = signal(caller, 1)?;
    with_state(|state| {
        let info = own(state, caller, signal, code::USER)?;
        let target = match caller.int(0) {
            0 => Target::Group(caller.parts(state)?.0.group),
            -1 => Target::Others(caller.process()),
            i32::MIN => return Err(Errno::ESRCH),
            number @ ..0 => Target::Group(number.unsigned_abs()),
            number => Target::Process(number as u32),
        };
        send(state, caller, target, &info)
    })?;
    Ok(0)
}

/// `tkill`.
pub fn tkill(caller: &Caller) -> Result<u64, Errno> {
    let (thread, signal) = (number(caller, 0)?, signal(caller, 1)?);
    with_state(|state| {
        let info = own(state, caller, signal, code::THREAD)?;
        send(state, caller, Target::Thread(None, thread), &info)
    })?;
    Ok(0)
}

/// `tgkill`.
pub fn tgkill(caller: &Caller) -> Result<u64, Errno> {
    let (process, thread) = (number(caller, 0)?, number(caller, 1)?);
    let signal = signal(caller, 2)?;
    with_state(|state| {
        let info = own(state, caller, signal, code::THREAD)?;
        send(state, caller, Target::Thread(Some(process), thread), &info)
    })?;
    Ok(0)
}

/// Reads the information of a signal that a process states. No process sends another one a signal
/// that seems to be the kernel's or that of `kill`.
fn stated(caller: &Caller, from: usize, signal: u8, process: u32) -> Result<Info, Errno> {
    let mut bytes = [0; Info::USED];
    with_state(|state| user_memory::read(state, caller, from, &mut bytes))?;
    let info = Info::decode(signal, &bytes);
    let refused = info.code >= 0 || info.code == code::THREAD;
    if refused && process != caller.process() {
        return Err(Errno::EPERM);
    }
    Ok(info)
}

/// `rt_sigqueueinfo`.
pub fn rt_sigqueueinfo(caller: &Caller) -> Result<u64, Errno> {
    let process = caller.int(0) as u32;
    let signal = signal(caller, 1)?;
    let info = stated(caller, caller.address(2), signal, process)?;
    with_state(|state| send(state, caller, Target::Process(process), &info))?;
    Ok(0)
}

/// `rt_tgsigqueueinfo`.
pub fn rt_tgsigqueueinfo(caller: &Caller) -> Result<u64, Errno> {
    let (process, thread) = (number(caller, 0)?, number(caller, 1)?);
    let signal = signal(caller, 2)?;
    let info = stated(caller, caller.address(3), signal, process)?;
    let target = Target::Thread(Some(process), thread);
    with_state(|state| send(state, caller, target, &info))?;
    Ok(0)
}
