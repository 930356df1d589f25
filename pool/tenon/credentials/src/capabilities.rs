//! [`Capabilities`] of a process.

use crate::Errno;

/// Numbers of capabilities in Linux.
pub mod capability {
    /// Change of the owner of files.
    pub const CHOWN: u32 = 0;
    /// Reading, writing and executing in spite of permissions.
    pub const DAC_OVERRIDE: u32 = 1;
    /// Reading and searching in spite of permissions.
    pub const DAC_READ_SEARCH: u32 = 2;
    /// Changes of files that belong to others.
    pub const FOWNER: u32 = 3;
    /// Set-user-ID bits are kept.
    pub const FSETID: u32 = 4;
    /// Signals to all processes.
    pub const KILL: u32 = 5;
    /// Groups of any number.
    pub const SETGID: u32 = 6;
    /// Users of any number.
    pub const SETUID: u32 = 7;
    /// Capabilities of programs.
    pub const SETPCAP: u32 = 8;
    /// Memory that stays in frames, beyond the limit.
    pub const IPC_LOCK: u32 = 14;
    /// The root of paths.
    pub const SYS_CHROOT: u32 = 18;
    /// What other processes have.
    pub const SYS_PTRACE: u32 = 19;
    /// The name of the system, and mounts.
    pub const SYS_ADMIN: u32 = 21;
    /// Priorities of others.
    pub const SYS_NICE: u32 = 23;
    /// Limits.
    pub const SYS_RESOURCE: u32 = 24;
    /// Clocks.
    pub const SYS_TIME: u32 = 25;
    /// The terminal of others.
    pub const SYS_TTY_CONFIG: u32 = 26;
    /// Special files.
    pub const MKNOD: u32 = 27;
    /// Leases of files that belong to others.
    pub const LEASE: u32 = 28;
    /// The log of the kernel.
    pub const SYSLOG: u32 = 34;
    /// Numbers of processes.
    pub const CHECKPOINT_RESTORE: u32 = 40;
    /// The highest number.
    pub const LAST: u32 = 40;
}

/// Sets of capabilities, by bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    effective: u64,
    permitted: u64,
    inheritable: u64,
    bounding: u64,
    ambient: u64,
    /// They stay permitted when no user is 0 any more (`PR_SET_KEEPCAPS`).
    pub keep: bool,
}

/// A change of users, as far as capabilities follow it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    /// The real, effective or saved user was 0.
    pub(crate) had_root: bool,
    /// One of them is.
    pub(crate) has_root: bool,
    /// The effective user was 0.
    pub(crate) was_root: bool,
    /// It is.
    pub(crate) is_root: bool,
}

/// All that there are.
const ALL: u64 = (1 << (capability::LAST + 1)) - 1;
/// Those that accesses to files use: CHOWN to FSETID, MKNOD, LINUX_IMMUTABLE and MAC_OVERRIDE.
const OF_FILES: u64 = 0x1f | 1 << 9 | 1 << capability::MKNOD | 1 << 32;

impl Capabilities {
    /// Those of the first process.
    pub const ALL: Self = Self {
        effective: ALL,
        permitted: ALL,
        inheritable: 0,
        bounding: ALL,
        ambient: 0,
        keep: false,
    };

    /// Whether one is in effect.
    #[must_use]
    pub fn has(&self, capability: u32) -> bool {
        self.effective >> capability & 1 != 0
    }

    /// Those in effect, permitted, and inheritable.
    #[must_use]
    pub fn sets(&self) -> [u64; 3] {
        [self.effective, self.permitted, self.inheritable]
    }

    /// Those that a program can get.
    #[must_use]
    pub fn bounding(&self) -> u64 {
        self.bounding
    }

    /// Those that a program keeps.
    #[must_use]
    pub fn ambient(&self) -> u64 {
        self.ambient
    }

    /// `capset`: those in effect, permitted, and inheritable.
    pub fn set(&mut self, [effective, permitted, inheritable]: [u64; 3]) -> Result<(), Errno> {
        let [effective, permitted, inheritable] =
            [effective, permitted, inheritable].map(|set| set & ALL);
        let within = |set: u64, other: u64| set & !other == 0;
        let any = self.has(capability::SETPCAP);
        if !(any || within(inheritable, self.inheritable | self.permitted))
            || !within(inheritable, self.inheritable | self.bounding)
            || !within(permitted, self.permitted)
            || !within(effective, permitted)
        {
            return Err(Errno::EPERM);
        }
        (self.effective, self.permitted) = (effective, permitted);
        self.inheritable = inheritable;
        self.ambient &= permitted & inheritable;
        Ok(())
    }

    /// Takes one from those that a program can get (`PR_CAPBSET_DROP`).
    pub fn drop_bounding(&mut self, capability: u32) -> Result<(), Errno> {
        if !self.has(capability::SETPCAP) {
            return Err(Errno::EPERM);
        }
        self.bounding &= !(1 << capability);
        Ok(())
    }

    /// Adds one to those that a program keeps, or takes it (`PR_CAP_AMBIENT`).
    pub fn set_ambient(&mut self, capability: u32, wanted: bool) -> Result<(), Errno> {
        let bit = 1 << capability;
        if wanted && self.permitted & self.inheritable & bit == 0 {
            return Err(Errno::EPERM);
        }
        self.ambient = self.ambient & !bit | if wanted { bit } else { 0 };
        Ok(())
    }

    /// Follows a change of users.
    pub(crate) fn follow(&mut self, change: Change) {
        if change.had_root && !change.has_root {
            if !self.keep {
                self.permitted = 0;
                self.effective = 0;
            }
            self.ambient = 0;
        }
        if change.was_root && !change.is_root {
            self.effective = 0;
        } else if !change.was_root && change.is_root {
            self.effective = self.permitted;
        }
    }

    /// Follows a change of the user of accesses to files: whether it was and is 0.
    pub(crate) fn follow_files(&mut self, was: bool, is: bool) {
        match (was, is) {
            (true, false) => self.effective &= !OF_FILES,
            (false, true) => self.effective |= self.permitted & OF_FILES,
            _ => {}
        }
    }

    /// Has those in effect that `access` checks by: all that are permitted if the real user is 0.
    pub(crate) fn of_user(&mut self, root: bool) {
        self.effective = if root { self.permitted } else { 0 };
    }

    /// Those of a new program; whether the real and the effective user is 0.
    pub(crate) fn execute(&mut self, real: bool, effective: bool) {
        self.permitted = if real || effective {
            self.inheritable | self.bounding
        } else {
            self.ambient
        };
        self.effective = if effective {
            self.permitted
        } else {
            self.ambient
        };
        if real || effective {
            self.ambient = 0;
        }
        self.keep = false;
    }
}
