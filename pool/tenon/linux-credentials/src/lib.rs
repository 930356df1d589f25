//! System calls of Linux for [`Credentials`](tenon_process::Credentials): users, groups,
//! capabilities.
//!
//! Threads of a process have its credentials; in Linux each has its own, and the C library changes
//! them all. Numbers and structures are those of Linux for AArch64.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod capabilities;
pub mod permission;

pub use capabilities::{capget, capset};

use tenon_process::user_memory;
use tenon_process::{Call, Caller, Calls, Credentials, Errno, GROUPS, with_state};

/// All calls of this library.
pub static CALLS: Calls = Calls(&[
    Call(90, capget),
    Call(91, capset),
    Call(143, setregid),
    Call(144, setgid),
    Call(145, setreuid),
    Call(146, setuid),
    Call(147, setresuid),
    Call(148, getresuid),
    Call(149, setresgid),
    Call(150, getresgid),
    Call(151, setfsuid),
    Call(152, setfsgid),
    Call(158, getgroups),
    Call(159, setgroups),
    Call(174, getuid),
    Call(175, geteuid),
    Call(176, getgid),
    Call(177, getegid),
]);

/// Reads the credentials of the caller.
fn read<R>(caller: &Caller, action: impl FnOnce(&Credentials) -> R) -> Result<R, Errno> {
    with_state(|state| Ok(action(&caller.parts(state)?.0.credentials)))
}

/// Changes the credentials of the caller. Another user gets no signal at the end of its parent.
fn change(
    caller: &Caller,
    action: impl FnOnce(&mut Credentials) -> Result<(), Errno>,
) -> Result<u64, Errno> {
    with_state(|state| {
        let (process, ..) = caller.parts(state)?;
        let ids = |credentials: &Credentials| {
            let (user, group) = (credentials.user(), credentials.group());
            [user.effective, user.files, group.effective, group.files]
        };
        let before = ids(&process.credentials);
        action(&mut process.credentials)?;
        if ids(&process.credentials) != before {
            process.death_signal = 0;
        }
        Ok(0)
    })
}

/// A number that a call states; none if it is -1.
fn number(caller: &Caller, index: usize) -> Option<u32> {
    let number = caller.argument(index) as u32;
    (number != u32::MAX).then_some(number)
}

/// A number that must be one.
fn stated(caller: &Caller, index: usize) -> Result<u32, Errno> {
    number(caller, index).ok_or(Errno::EINVAL)
}

/// `getuid`.
pub fn getuid(caller: &Caller) -> Result<u64, Errno> {
    read(caller, |credentials| credentials.user().real.into())
}

/// `geteuid`.
pub fn geteuid(caller: &Caller) -> Result<u64, Errno> {
    read(caller, |credentials| credentials.user().effective.into())
}

/// `getgid`.
pub fn getgid(caller: &Caller) -> Result<u64, Errno> {
    read(caller, |credentials| credentials.group().real.into())
}

/// `getegid`.
pub fn getegid(caller: &Caller) -> Result<u64, Errno> {
    read(caller, |credentials| credentials.group().effective.into())
}

/// Writes three numbers to the addresses that the caller states.
fn put(caller: &Caller, numbers: [u32; 3]) -> Result<u64, Errno> {
    with_state(|state| {
        for (index, number) in numbers.into_iter().enumerate() {
            let to = caller.address(index);
            user_memory::write(state, caller, to, &number.to_le_bytes())?;
        }
        Ok(0)
    })
}

/// `getresuid`.
pub fn getresuid(caller: &Caller) -> Result<u64, Errno> {
    let user = read(caller, |credentials| *credentials.user())?;
    put(caller, [user.real, user.effective, user.saved])
}

/// `getresgid`.
pub fn getresgid(caller: &Caller) -> Result<u64, Errno> {
    let group = read(caller, |credentials| *credentials.group())?;
    put(caller, [group.real, group.effective, group.saved])
}

/// `setuid`.
pub fn setuid(caller: &Caller) -> Result<u64, Errno> {
    let user = stated(caller, 0)?;
    change(caller, |credentials| credentials.set_user(user))
}

/// `setgid`.
pub fn setgid(caller: &Caller) -> Result<u64, Errno> {
    let group = stated(caller, 0)?;
    change(caller, |credentials| credentials.set_group(group))
}

/// `setreuid`.
pub fn setreuid(caller: &Caller) -> Result<u64, Errno> {
    let (real, effective) = (number(caller, 0), number(caller, 1));
    change(caller, |credentials| credentials.set_users(real, effective))
}

/// `setregid`.
pub fn setregid(caller: &Caller) -> Result<u64, Errno> {
    let (real, effective) = (number(caller, 0), number(caller, 1));
    change(caller, |credentials| {
        credentials.set_both_groups(real, effective)
    })
}

/// `setresuid`.
pub fn setresuid(caller: &Caller) -> Result<u64, Errno> {
    let users = [0, 1, 2].map(|index| number(caller, index));
    change(caller, |credentials| credentials.set_all_users(users))
}

/// `setresgid`.
pub fn setresgid(caller: &Caller) -> Result<u64, Errno> {
    let groups = [0, 1, 2].map(|index| number(caller, index));
    change(caller, |credentials| credentials.set_all_groups(groups))
}

/// `setfsuid`: returns the former user, whether it was changed or not.
pub fn setfsuid(caller: &Caller) -> Result<u64, Errno> {
    let user = number(caller, 0);
    with_state(|state| {
        let credentials = &mut caller.parts(state)?.0.credentials;
        let before = credentials.user().files;
        Ok(user
            .map_or(before, |user| credentials.set_user_of_files(user))
            .into())
    })
}

/// `setfsgid`.
pub fn setfsgid(caller: &Caller) -> Result<u64, Errno> {
    let group = number(caller, 0);
    with_state(|state| {
        let credentials = &mut caller.parts(state)?.0.credentials;
        let before = credentials.group().files;
        Ok(group
            .map_or(before, |group| credentials.set_group_of_files(group))
            .into())
    })
}

/// `getgroups`: their number if the size is zero.
pub fn getgroups(caller: &Caller) -> Result<u64, Errno> {
    let size = usize::try_from(caller.int(0)).map_err(|_| Errno::EINVAL)?;
    let mut numbers = [[0; 4]; GROUPS];
    let count = read(caller, |credentials| {
        let groups = credentials.groups();
        for (place, group) in numbers.iter_mut().zip(groups) {
            *place = group.to_le_bytes();
        }
        groups.len()
    })?;
    if size == 0 {
        return Ok(count as u64);
    }
    if size < count {
        return Err(Errno::EINVAL);
    }
    let bytes = numbers[..count].as_flattened();
    with_state(|state| user_memory::write(state, caller, caller.address(1), bytes))?;
    Ok(count as u64)
}

/// `NGROUPS_MAX` of Linux.
const GROUPS_OF_LINUX: usize = 65_536;

/// `setgroups`: as many as there is room for.
pub fn setgroups(caller: &Caller) -> Result<u64, Errno> {
    let count = usize::try_from(caller.argument(0) as u32).map_err(|_| Errno::EINVAL)?;
    let mut bytes = [[0; 4]; GROUPS];
    let refused = read(caller, |credentials| {
        !credentials.has(tenon_process::capability::SETGID)
    })?;
    if refused {
        return Err(Errno::EPERM);
    }
    if (GROUPS + 1..=GROUPS_OF_LINUX).contains(&count) {
        // Linux reads as many first.
        with_state(|state| {
            user_memory::read(state, caller, caller.address(1), bytes.as_flattened_mut())
        })?;
    }
    let part = bytes.get_mut(..count).ok_or(Errno::EINVAL)?;
    with_state(|state| {
        user_memory::read(state, caller, caller.address(1), part.as_flattened_mut())
    })?;
    let groups = bytes.map(u32::from_le_bytes);
    change(caller, |credentials| {
        credentials.set_groups(&groups[..count])
    })
}
