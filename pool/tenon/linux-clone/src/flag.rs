//! Flags of `clone`, and the errors of their combinations.

use tenon_process::Errno;

pub const TIME: u64 = 0x80;
pub const MEMORY: u64 = 0x100;
pub const DIRECTORY: u64 = 0x200;
pub const FILES: u64 = 0x400;
pub const HANDLERS: u64 = 0x800;
pub const DESCRIPTOR: u64 = 0x1000;
/// `CLONE_PTRACE` and `CLONE_UNTRACED`, which have no effect: nothing is traced.
pub const TRACED: u64 = 0x2000 | 0x80_0000;
pub const VFORK: u64 = 0x4000;
pub const PARENT: u64 = 0x8000;
pub const THREAD: u64 = 0x1_0000;
pub const MOUNTS: u64 = 0x2_0000;
pub const SEMAPHORES: u64 = 0x4_0000;
pub const THREAD_POINTER: u64 = 0x8_0000;
pub const PARENT_NUMBER: u64 = 0x10_0000;
pub const CLEAR_NUMBER: u64 = 0x20_0000;
/// `CLONE_DETACHED`, which has no effect.
pub const DETACHED: u64 = 0x40_0000;
pub const CHILD_NUMBER: u64 = 0x100_0000;
pub const USERS: u64 = 0x1000_0000;
pub const NUMBERS: u64 = 0x2000_0000;
/// Control groups, names of the system, System V, network.
const OTHERS: u64 = 0x200_0000 | 0x400_0000 | 0x800_0000 | 0x4000_0000;
/// Namespaces that only a privileged process creates.
pub const PRIVILEGED: u64 = MOUNTS | OTHERS | NUMBERS | TIME;
/// Namespaces.
pub const NAMESPACES: u64 = PRIVILEGED | USERS;
/// What a thread shares: all of it, or it is none.
pub const SHARED: u64 = MEMORY | DIRECTORY | FILES | HANDLERS | THREAD;
/// What a thread and a process can have.
const COMMON: u64 = THREAD_POINTER
    | PARENT_NUMBER
    | CLEAR_NUMBER
    | DETACHED
    | CHILD_NUMBER
    | TRACED
    | SEMAPHORES
    | MOUNTS;

/// Whether Linux refuses a combination of flags, whatever it serves.
fn is_invalid(flags: u64, is_first: bool) -> bool {
    let has = |flag: u64| flags & flag != 0;
    has(DIRECTORY) && has(MOUNTS | USERS)
        || has(THREAD) && !has(HANDLERS)
        || has(HANDLERS) && !has(MEMORY)
        || has(THREAD) && has(USERS | NUMBERS)
        || has(PARENT) && is_first
        || has(DESCRIPTOR) && has(THREAD | DETACHED)
}

/// The error of flags: those of Linux, then `EINVAL` for what is not served. `is_first`: the caller is
/// the first process.
pub fn check(flags: u64, (is_first, privileged): (bool, bool)) -> Result<(), Errno> {
    let has = |flag: u64| flags & flag != 0;
    if is_invalid(flags, is_first) {
        return Err(Errno::EINVAL);
    }
    if has(PRIVILEGED) && !has(USERS) && !privileged {
        return Err(Errno::EPERM);
    }
    let known = if has(THREAD) {
        SHARED
    } else {
        MEMORY | VFORK | PARENT | DESCRIPTOR
    };
    let whole = flags & SHARED == SHARED;
    if flags & !(known | COMMON) != 0
        || has(THREAD) && !whole
        // Memory is shared by the threads of a process alone, or until the child's program.
        || !has(THREAD) && has(MEMORY) && !has(VFORK)
    {
        return Err(Errno::EINVAL);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_have_the_errors_of_linux() {
        let usual = |flags| check(flags, (false, true));
        assert_eq!(usual(0), Ok(()));
        assert_eq!(usual(SHARED | SEMAPHORES | CLEAR_NUMBER), Ok(()));
        assert_eq!(usual(VFORK | MEMORY | PARENT | DESCRIPTOR), Ok(()));
        for invalid in [
            HANDLERS,
            THREAD,
            THREAD | MEMORY,
            DIRECTORY | MOUNTS,
            SHARED | DESCRIPTOR,
            SHARED | NUMBERS,
            // Not served.
            MEMORY,
            FILES,
            DIRECTORY,
            NUMBERS,
            USERS,
        ] {
            assert_eq!(usual(invalid), Err(Errno::EINVAL), "{invalid:#x}");
        }
        assert_eq!(check(PARENT, (true, true)), Err(Errno::EINVAL));
    }

    #[test]
    fn only_privileged_processes_create_namespaces() {
        for flag in [MOUNTS, NUMBERS, OTHERS, TIME] {
            assert_eq!(check(flag, (false, false)), Err(Errno::EPERM));
        }
        assert_eq!(check(MOUNTS, (false, true)), Ok(()));
        assert_eq!(
            check(MOUNTS | DIRECTORY, (false, false)),
            Err(Errno::EINVAL)
        );
    }
}
