//! System calls that wait for children.

use crate::pidfd::process_of;
use tenon_process::user_memory;
use tenon_process::{Caller, Change, Children, End, Errno, State, Wanted, with_state};

/// Options.
mod option {
    pub const NO_HANG: u32 = 1;
    pub const STOPPED: u32 = 2;
    pub const EXITED: u32 = 4;
    pub const CONTINUED: u32 = 8;
    pub const NO_WAIT: u32 = 0x100_0000;
    /// `__WNOTHREAD` changes nothing here: children are those of the process.
    pub const NO_THREAD: u32 = 0x2000_0000;
    pub const ALL: u32 = 0x4000_0000;
    pub const CLONED: u32 = 0x8000_0000;
    pub const COMMON: u32 = NO_HANG | CONTINUED | NO_THREAD | ALL | CLONED;
}

fn wanted(options: u32) -> Wanted {
    Wanted {
        ended: options & option::EXITED != 0,
        stopped: options & option::STOPPED != 0,
        continued: options & option::CONTINUED != 0,
        keep: options & option::NO_WAIT != 0,
        cloned: (options & option::ALL == 0).then_some(options & option::CLONED != 0),
    }
}

/// Waits for a child; `found` writes its change before it is collected. `None` if there is none and
/// the caller does not wait.
fn wait(
    caller: &Caller,
    children: Children,
    options: u32,
    mut found: impl FnMut(&mut State, u32, Change) -> Result<(), Errno>,
) -> Result<Option<u32>, Errno> {
    let wanted = wanted(options);
    let keep = Wanted {
        keep: true,
        ..wanted
    };
    caller.wait(|state| {
        let Some((number, change)) = state.collect(caller.slot().0, children, keep)? else {
            return Ok((options & option::NO_HANG != 0).then_some(None));
        };
        found(state, number, change)?;
        state.collect(caller.slot().0, Children::Number(number), wanted)?;
        Ok(Some(Some(number)))
    })
}

/// Bytes of `struct rusage`.
const USAGE: usize = 144;

/// What a process has used, as `struct rusage` has it: execution time, all of it as that of the program,
/// and faults.
fn used(state: &State, number: u32) -> [u8; USAGE] {
    const SECOND: u64 = 1_000_000_000;
    const FAULTS: usize = 8;
    let mut words = [[0; 8]; USAGE / 8];
    if let Some(process) = state.process_of(number) {
        let usage = process.usage;
        let time = state.time_of(number, true).unwrap_or_default();
        let time = time + tenon_process::nanoseconds(usage.children);
        words[0] = (time / SECOND).to_le_bytes();
        words[1] = (time % SECOND / 1000).to_le_bytes();
        words[FAULTS] = (usage.faults + usage.faults_of_children).to_le_bytes();
    }
    let mut bytes = [0; USAGE];
    bytes.copy_from_slice(words.as_flattened());
    bytes
}

/// `wait4`.
pub fn wait4(caller: &Caller) -> Result<u64, Errno> {
    let options = caller.argument(2) as u32;
    if options & !(option::COMMON | option::STOPPED) != 0 {
        return Err(Errno::EINVAL);
    }
    let children = match caller.int(0) {
        -1 => Children::All,
        0 => Children::Group(own_group(caller)?),
        number if number > 0 => Children::Number(number as u32),
        i32::MIN => return Err(Errno::ESRCH),
        group => Children::Group(group.unsigned_abs()),
    };
    let (status, usage) = (caller.address(1), caller.address(3));
    let found = wait(
        caller,
        children,
        options | option::EXITED,
        |state, number, change| {
            if status != 0 {
                user_memory::write(state, caller, status, &change.status().to_le_bytes())?;
            }
            if usage != 0 {
                let used = used(state, number);
                user_memory::write(state, caller, usage, &used)?;
            }
            Ok(())
        },
    )?;
    Ok(found.unwrap_or(0).into())
}

/// `waitid`.
pub fn waitid(caller: &Caller) -> Result<u64, Errno> {
    const ALL: i32 = 0;
    const NUMBER: i32 = 1;
    const GROUP: i32 = 2;
    const DESCRIPTOR: i32 = 3;
    let options = caller.argument(3) as u32;
    let what = option::EXITED | option::STOPPED | option::CONTINUED;
    let known = option::COMMON | option::STOPPED | option::EXITED | option::NO_WAIT;
    if options & !known != 0 || options & what == 0 {
        return Err(Errno::EINVAL);
    }
    let number = caller.int(1);
    let mut only_ready = false;
    let children = match caller.int(0) {
        ALL => Children::All,
        NUMBER if number > 0 => Children::Number(number as u32),
        GROUP if number > 0 => Children::Group(number as u32),
        GROUP if number == 0 => Children::Group(own_group(caller)?),
        DESCRIPTOR if number >= 0 => {
            let (process, no_wait) = with_state(|state| process_of(state, caller, number))
                // Collected, as it seems.
                .map_err(|error| {
                    if error == Errno::ESRCH {
                        Errno::ECHILD
                    } else {
                        error
                    }
                })?;
            only_ready = no_wait;
            Children::Number(process)
        }
        _ => return Err(Errno::EINVAL),
    };
    let (information, usage) = (caller.address(2), caller.address(4));
    let no_hang = if only_ready { option::NO_HANG } else { 0 };
    let found = wait(
        caller,
        children,
        options | no_hang,
        |state, number, change| {
            if information != 0 {
                let words = words(number, change);
                user_memory::write(state, caller, information, words.as_flattened())?;
            }
            if usage != 0 {
                let used = used(state, number);
                user_memory::write(state, caller, usage, &used)?;
            }
            Ok(())
        },
    )?;
    if found.is_none() && only_ready && options & option::NO_HANG == 0 {
        return Err(Errno::EAGAIN);
    }
    if found.is_none() && information != 0 {
        let nothing = [[0; 4]; WORDS];
        with_state(|state| user_memory::write(state, caller, information, nothing.as_flattened()))?;
    }
    Ok(0)
}

/// Words of `siginfo_t` that `waitid` writes.
const WORDS: usize = 7;

/// `siginfo_t` of a change of a child: signal, error, code, padding, number, user, status.
fn words(number: u32, change: Change) -> [[u8; 4]; WORDS] {
    const SIGCHLD: u32 = 17;
    let (code, status) = code(change);
    [SIGCHLD, 0, code, 0, number, 0, status].map(u32::to_le_bytes)
}

/// `si_code` and `si_status` of a change.
fn code(change: Change) -> (u32, u32) {
    match change {
        Change::Ended(End::Exit(code)) => (1, code.into()),
        Change::Ended(End::Signal(signal)) => (2, (signal & 0x7f).into()),
        Change::Stopped(signal) => (5, signal.into()),
        Change::Continued => (6, 18),
    }
}

fn own_group(caller: &Caller) -> Result<u32, Errno> {
    with_state(|state| Ok(caller.parts(state)?.0.group))
}
