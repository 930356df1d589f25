//! [`Interest`]: what a description has of its inode, of which its owner is told.

use tenon_thread::time::{Duration, Instant};

/// How long an access waits for the end of a lease at most, which ends then.
const LONGEST: Duration = Duration::from_secs(45);

/// What a description has of its inode.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Interest {
    #[default]
    None,
    /// Changes of a directory.
    Notice(Notice),
    /// Other accesses to a file.
    Lease(Lease),
}

/// What a process wants to be told of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice {
    /// The owner of the descriptors by one of which it was set.
    pub(crate) process: u32,
    /// The changes, by bits of `F_NOTIFY`.
    pub(crate) changes: u32,
}

/// What a lease is, with the numbers of `fcntl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// No other description is open for writing.
    Read = 0,
    /// There is no other description.
    Write = 1,
    /// None.
    Unlock = 2,
}

/// A lease.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    kind: Kind,
    /// What its owner was told to make of it, and until when.
    broken: Option<(Kind, Instant)>,
}

impl Lease {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, broken: None }
    }

    /// What it is after a break of which the time is over.
    pub(crate) fn at(self, now: Instant) -> Option<Self> {
        match self.broken {
            Some((Kind::Unlock, until)) if now >= until => None,
            Some((kind, until)) if now >= until => Some(Self { kind, broken: None }),
            _ => Some(self),
        }
    }

    /// Whether an access has to wait for it.
    pub(crate) fn conflicts(&self, writes: bool) -> bool {
        self.kind == Kind::Write || writes
    }

    /// What it will be.
    pub(crate) fn target(&self) -> Kind {
        self.broken.map_or(self.kind, |(kind, _)| kind)
    }

    /// Begins a break for an access. Returns whether the owner is to be told of it.
    pub(crate) fn break_for(&mut self, writes: bool, now: Instant) -> bool {
        let told = match self.broken {
            Some((kind, _)) => kind == Kind::Unlock || !writes,
            None => false,
        };
        if !told {
            let kind = if writes { Kind::Unlock } else { Kind::Read };
            self.broken = Some((kind, now + LONGEST));
        }
        !told
    }

    /// What becomes of it if its owner sets a kind; `None` if a break does not permit that.
    pub(crate) fn changed(self, kind: Kind) -> Option<Self> {
        match self.broken {
            Some((target, _)) if target == Kind::Unlock || kind == Kind::Write => None,
            _ => Some(Self { kind, broken: None }),
        }
    }

    /// Until when accesses wait for it.
    pub(crate) fn until(&self) -> Option<Instant> {
        self.broken.map(|(_, until)| until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_broken_once_and_ends_in_time() {
        let now = Instant::from_nanoseconds(1_000);
        let later = now + LONGEST;
        let mut lease = Lease {
            kind: Kind::Write,
            broken: None,
        };
        assert!(lease.conflicts(false) && lease.break_for(false, now));
        assert!(!lease.break_for(false, now));
        assert_eq!(lease.target(), Kind::Read);
        assert_eq!(lease.at(later).unwrap().kind, Kind::Read);
        assert_eq!(lease.changed(Kind::Read).unwrap().kind, Kind::Read);
        assert!(lease.changed(Kind::Write).is_none());
        // An access that writes asks for more.
        assert!(lease.break_for(true, now));
        assert!(!lease.break_for(true, now) && !lease.break_for(false, now));
        assert!(lease.changed(Kind::Read).is_none());
        assert!(lease.at(now).is_some() && lease.at(later).is_none());
        let read = Lease {
            kind: Kind::Read,
            broken: None,
        };
        assert!(read.conflicts(true) && !read.conflicts(false));
    }
}
