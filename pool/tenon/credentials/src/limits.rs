//! [`Limits`] of the resources of a process.

use crate::Errno;

/// Numbers of resources.
pub mod resource {
    /// Seconds of execution.
    pub const EXECUTION: usize = 0;
    /// Bytes of a file.
    pub const FILE_SIZE: usize = 1;
    /// Bytes of the heap and of private memory that is written.
    pub const DATA: usize = 2;
    /// Bytes of the stack.
    pub const STACK: usize = 3;
    /// Bytes of a core dump.
    pub const CORE: usize = 4;
    /// Processes and threads of the user.
    pub const PROCESSES: usize = 6;
    /// Descriptors.
    pub const DESCRIPTORS: usize = 7;
    /// Bytes of the address space.
    pub const ADDRESS_SPACE: usize = 9;
    /// Memory that stays in frames, in bytes.
    pub const LOCKED: usize = 8;
    /// Signals that are queued.
    pub const SIGNALS: usize = 11;
    /// How many there are.
    pub const COUNT: usize = 16;
}

/// Whether a user or a process with `own` objects of a table may have another one, where there are `all` and
/// at most `limit`: always while half of them are free, and then up to an eighth of the limit.
pub fn has_share(all: u32, limit: u32, own: impl FnOnce() -> u32) -> bool {
    all < limit / 2 || own() < limit / 8
}

/// `RLIM_INFINITY`.
pub const UNLIMITED: u64 = u64::MAX;

/// A limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The one in effect.
    pub soft: u64,
    /// The highest that it can be set to.
    pub hard: u64,
}

/// The limits of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    limits: [Limit; resource::COUNT],
}

impl Limits {
    /// Those of the first process, for an image with so many processes and descriptors.
    #[must_use]
    pub const fn new(processes: u64, descriptors: u64) -> Self {
        const fn same(limit: u64) -> Limit {
            Limit {
                soft: limit,
                hard: limit,
            }
        }
        let mut limits = [same(UNLIMITED); resource::COUNT];
        limits[resource::STACK].soft = 8 << 20;
        limits[resource::CORE].soft = 0;
        limits[resource::PROCESSES] = same(processes);
        limits[resource::DESCRIPTORS] = same(descriptors);
        // MEMLOCK, SIGPENDING as many as a process can have, MSGQUEUE, NICE and RTPRIO, as in Linux.
        limits[8] = same(8 << 20);
        limits[resource::SIGNALS] = same(256);
        limits[12] = same(819_200);
        limits[13] = same(0);
        limits[14] = same(0);
        Self { limits }
    }

    /// The limit of a resource.
    pub fn get(&self, resource: usize) -> Result<Limit, Errno> {
        self.limits.get(resource).copied().ok_or(Errno::EINVAL)
    }

    /// The limit of a resource that is in effect.
    #[must_use]
    pub fn soft(&self, resource: usize) -> u64 {
        self.limits
            .get(resource)
            .map_or(UNLIMITED, |limit| limit.soft)
    }

    /// Sets a soft limit, within the hard one.
    pub fn raise_soft(&mut self, resource: usize, soft: u64) {
        if let Some(limit) = self.limits.get_mut(resource) {
            limit.soft = soft.min(limit.hard);
        }
    }

    /// Sets a limit; only one that may `raise` it sets a higher hard limit, and none sets more than
    /// `most` for descriptors.
    pub fn set(
        &mut self,
        resource: usize,
        limit: Limit,
        (raise, most): (bool, u64),
    ) -> Result<(), Errno> {
        let place = self.limits.get_mut(resource).ok_or(Errno::EINVAL)?;
        if limit.soft > limit.hard {
            return Err(Errno::EINVAL);
        }
        if limit.hard > place.hard && !raise
            || resource == resource::DESCRIPTORS && limit.hard > most
        {
            return Err(Errno::EPERM);
        }
        *place = limit;
        Ok(())
    }
}
