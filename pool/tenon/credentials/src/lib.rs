//! [`Credentials`] and [`Limits`] of a process: users, groups, capabilities, resources.
//!
//! Users and groups change by the rules of POSIX (`setuid`, `setreuid`), capabilities by those of
//! Linux: user 0 has all, and a change to other users takes them away. [`Credentials::permits`] is the
//! check of a file's permissions, [`Credentials::may_signal`] that of `kill`.
//!
//! Guarantees: no change gives a process a user, a group or a capability that the rules refuse; a
//! refused change changes nothing. No allocation; times are linear in the supplementary groups.
//!
//! ```
//! use tenon_credentials::{Credentials, Errno, READ, WRITE};
//!
//! let mut credentials = Credentials::root();
//! credentials.set_group(100)?;
//! credentials.set_user(1000)?;
//! assert!(credentials.permits((0, 100), (0o640, false), READ));
//! assert!(!credentials.permits((0, 100), (0o640, false), WRITE));
//! assert_eq!(credentials.set_user(0), Err(Errno::EPERM));
//! # Ok::<(), Errno>(())
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod capabilities;
mod limits;
mod usage;

pub use capabilities::{Capabilities, capability};
pub use limits::{Limit, Limits, UNLIMITED, has_share, resource};
pub use tenon_program::Errno;
pub use usage::Usage;

use heapless::Vec;

/// Permission to read, of the three bits of a class.
pub const READ: u32 = 4;
/// Permission to write.
pub const WRITE: u32 = 2;
/// Permission to execute, and to search a directory.
pub const EXECUTE: u32 = 1;

/// Supplementary groups at most.
pub const GROUPS: usize = 32;
/// `S_ISVTX`: an entry of a directory is removed by its owner, or by that of the directory.
pub const STICKY: u32 = 0o1000;

/// Numbers of users or of groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ids {
    /// The real one.
    pub real: u32,
    /// The effective one.
    pub effective: u32,
    /// The saved one.
    pub saved: u32,
    /// That of accesses to files.
    pub files: u32,
}

impl Ids {
    fn all(number: u32) -> Self {
        Self {
            real: number,
            effective: number,
            saved: number,
            files: number,
        }
    }

    fn is_one(&self, number: u32) -> bool {
        [self.real, self.effective, self.saved].contains(&number)
    }

    fn set(&self, number: u32, any: bool) -> Result<Self, Errno> {
        if any {
            Ok(Self::all(number))
        } else if number == self.real || number == self.saved {
            Ok(Self {
                effective: number,
                files: number,
                ..*self
            })
        } else {
            Err(Errno::EPERM)
        }
    }

    fn set_two(&self, real: Option<u32>, effective: Option<u32>, any: bool) -> Result<Self, Errno> {
        let mut new = *self;
        if let Some(real) = real {
            if !any && real != self.real && real != self.effective {
                return Err(Errno::EPERM);
            }
            new.real = real;
        }
        if let Some(effective) = effective {
            if !any && !self.is_one(effective) {
                return Err(Errno::EPERM);
            }
            new.effective = effective;
        }
        if real.is_some() || effective.is_some_and(|effective| effective != self.real) {
            new.saved = new.effective;
        }
        new.files = new.effective;
        Ok(new)
    }

    fn set_three(
        &self,
        [real, effective, saved]: [Option<u32>; 3],
        any: bool,
    ) -> Result<Self, Errno> {
        let given = [real, effective, saved];
        if !any && given.iter().flatten().any(|number| !self.is_one(*number)) {
            return Err(Errno::EPERM);
        }
        let effective = effective.unwrap_or(self.effective);
        Ok(Self {
            real: real.unwrap_or(self.real),
            effective,
            saved: saved.unwrap_or(self.saved),
            files: effective,
        })
    }

    /// Returns the former one.
    fn set_files(&mut self, number: u32, any: bool) -> u32 {
        let before = self.files;
        if any || self.is_one(number) || number == before {
            self.files = number;
        }
        before
    }
}

/// The users that a process acts for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    user: Ids,
    group: Ids,
    groups: Vec<u32, GROUPS>,
    capabilities: Capabilities,
    /// Its memory may be looked at by its user (`PR_SET_DUMPABLE`).
    pub dumpable: bool,
    /// No program gives it more privileges (`PR_SET_NO_NEW_PRIVS`).
    pub no_new_privileges: bool,
}

impl Default for Credentials {
    fn default() -> Self {
        Self::root()
    }
}

impl Credentials {
    /// Those of the first process: user 0 and all capabilities.
    #[must_use]
    pub const fn root() -> Self {
        const ROOT: Ids = Ids {
            real: 0,
            effective: 0,
            saved: 0,
            files: 0,
        };
        Self {
            user: ROOT,
            group: ROOT,
            groups: Vec::new(),
            capabilities: Capabilities::ALL,
            dumpable: true,
            no_new_privileges: false,
        }
    }

    /// The numbers of the user.
    #[must_use]
    pub fn user(&self) -> &Ids {
        &self.user
    }

    /// The numbers of the group.
    #[must_use]
    pub fn group(&self) -> &Ids {
        &self.group
    }

    /// The supplementary groups.
    #[must_use]
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// The capabilities.
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// The capabilities, to change them.
    pub fn capabilities_mut(&mut self) -> &mut Capabilities {
        &mut self.capabilities
    }

    /// Whether it has a capability in effect.
    #[must_use]
    pub fn has(&self, capability: u32) -> bool {
        self.capabilities.has(capability)
    }

    fn change_user(&mut self, new: Ids) {
        let roots = |ids: &Ids| [ids.real, ids.effective, ids.saved].contains(&0);
        let change = capabilities::Change {
            had_root: roots(&self.user),
            has_root: roots(&new),
            was_root: self.user.effective == 0,
            is_root: new.effective == 0,
        };
        self.capabilities.follow(change);
        let changed = |ids: &Ids| (ids.effective, ids.files);
        self.dumpable &= changed(&self.user) == changed(&new);
        let (before, after) = (self.user.files, new.files);
        self.capabilities.follow_files(before == 0, after == 0);
        self.user = new;
    }

    fn change_group(&mut self, new: Ids) {
        let changed = |ids: &Ids| (ids.effective, ids.files);
        self.dumpable &= changed(&self.group) == changed(&new);
        self.group = new;
    }

    /// `setuid`.
    pub fn set_user(&mut self, user: u32) -> Result<(), Errno> {
        let new = self.user.set(user, self.has(capability::SETUID))?;
        self.change_user(new);
        Ok(())
    }

    /// `setreuid`; what is not stated stays.
    pub fn set_users(&mut self, real: Option<u32>, effective: Option<u32>) -> Result<(), Errno> {
        let any = self.has(capability::SETUID);
        let new = self.user.set_two(real, effective, any)?;
        self.change_user(new);
        Ok(())
    }

    /// `setresuid`; what is not stated stays.
    pub fn set_all_users(&mut self, users: [Option<u32>; 3]) -> Result<(), Errno> {
        let any = self.has(capability::SETUID);
        let new = self.user.set_three(users, any)?;
        self.change_user(new);
        Ok(())
    }

    /// `setfsuid`: sets the user of accesses to files, and returns the former one.
    pub fn set_user_of_files(&mut self, user: u32) -> u32 {
        let any = self.has(capability::SETUID);
        let before = self.user.set_files(user, any);
        let after = self.user.files;
        self.dumpable &= before == after;
        self.capabilities.follow_files(before == 0, after == 0);
        before
    }

    /// `setgid`.
    pub fn set_group(&mut self, group: u32) -> Result<(), Errno> {
        let new = self.group.set(group, self.has(capability::SETGID))?;
        self.change_group(new);
        Ok(())
    }

    /// `setregid`.
    pub fn set_both_groups(
        &mut self,
        real: Option<u32>,
        effective: Option<u32>,
    ) -> Result<(), Errno> {
        let any = self.has(capability::SETGID);
        let new = self.group.set_two(real, effective, any)?;
        self.change_group(new);
        Ok(())
    }

    /// `setresgid`.
    pub fn set_all_groups(&mut self, groups: [Option<u32>; 3]) -> Result<(), Errno> {
        let any = self.has(capability::SETGID);
        let new = self.group.set_three(groups, any)?;
        self.change_group(new);
        Ok(())
    }

    /// `setfsgid`.
    pub fn set_group_of_files(&mut self, group: u32) -> u32 {
        let any = self.has(capability::SETGID);
        let before = self.group.set_files(group, any);
        self.dumpable &= before == self.group.files;
        before
    }

    /// `setgroups`. More than [`GROUPS`] are `EINVAL`.
    pub fn set_groups(&mut self, groups: &[u32]) -> Result<(), Errno> {
        if !self.has(capability::SETGID) {
            return Err(Errno::EPERM);
        }
        let mut groups = Vec::from_slice(groups).map_err(|_| Errno::EINVAL)?;
        // As in Linux, in order.
        groups.sort_unstable();
        self.groups = groups;
        Ok(())
    }

    /// Whether the process is of a group in accesses to files.
    #[must_use]
    pub fn is_of_group(&self, group: u32) -> bool {
        self.group.files == group || self.groups.contains(&group)
    }

    /// Whether it has some of the permissions `wanted` of an inode: its user and group, its
    /// permissions and whether it is a directory.
    #[must_use]
    pub fn permits(
        &self,
        (user, group): (u32, u32),
        (permissions, is_directory): (u32, bool),
        wanted: u32,
    ) -> bool {
        let class = if self.user.files == user {
            permissions >> 6
        } else if self.is_of_group(group) {
            permissions >> 3
        } else {
            permissions
        };
        if wanted & !class & 0o7 == 0 {
            return true;
        }
        // Nothing executes what no class may.
        let executable = is_directory || permissions & 0o111 != 0;
        if self.has(capability::DAC_OVERRIDE) && (wanted & EXECUTE == 0 || executable) {
            return true;
        }
        let reads = wanted == READ || is_directory && wanted & WRITE == 0;
        reads && self.has(capability::DAC_READ_SEARCH)
    }

    /// Those with which `access` checks: of the real user and group.
    #[must_use]
    pub fn of_real_user(&self) -> Self {
        let mut real = self.clone();
        real.user.files = self.user.real;
        real.group.files = self.group.real;
        real.capabilities.of_user(self.user.real == 0);
        real
    }

    /// Whether it may change attributes of an inode with a user.
    #[must_use]
    pub fn owns(&self, user: u32) -> bool {
        self.user.files == user || self.has(capability::FOWNER)
    }

    /// Whether it may remove an entry of a directory: its user and permissions; the user of the entry's
    /// inode.
    #[must_use]
    pub fn may_remove(&self, (user, permissions): (u32, u32), entry: u32) -> bool {
        permissions & STICKY == 0 || self.user.files == user || self.owns(entry)
    }

    /// Whether it may change the user and group of an inode to others: `chown`.
    #[must_use]
    pub fn may_give(&self, from: (u32, u32), to: (u32, u32)) -> bool {
        self.has(capability::CHOWN)
            || self.user.files == from.0
                && from.0 == to.0
                && (from.1 == to.1 || self.is_of_group(to.1))
    }

    /// Whether it may send a signal to a process with other credentials, apart from SIGCONT within a
    /// session.
    #[must_use]
    pub fn may_signal(&self, other: &Self) -> bool {
        let own = [self.user.real, self.user.effective];
        let others = [other.user.real, other.user.saved];
        own.iter().any(|user| others.contains(user)) || self.has(capability::KILL)
    }

    /// Whether it may see and change the limits of a process with other credentials.
    #[must_use]
    pub fn may_limit(&self, other: &Self) -> bool {
        let (user, group) = (self.user.real, self.group.real);
        let all = |ids: &Ids, number| {
            ids.real == number && ids.effective == number && ids.saved == number
        };
        all(&other.user, user) && all(&other.group, group) || self.has(capability::SYS_RESOURCE)
    }

    /// Whether it may look at the memory and the open files of a process with other credentials.
    #[must_use]
    pub fn may_look(&self, other: &Self) -> bool {
        let all = |ids: &Ids, number| {
            ids.real == number && ids.effective == number && ids.saved == number
        };
        let same = all(&other.user, self.user.files) && all(&other.group, self.group.files);
        same && other.dumpable || self.has(capability::SYS_PTRACE)
    }

    /// The credentials that a program begins with; no file has set-user-ID in effect.
    pub fn execute(&mut self) {
        self.user.saved = self.user.effective;
        self.user.files = self.user.effective;
        self.group.saved = self.group.effective;
        self.group.files = self.group.effective;
        self.dumpable = true;
        let (real, effective) = (self.user.real == 0, self.user.effective == 0);
        self.capabilities.execute(real, effective);
    }
}

#[cfg(test)]
mod tests;
