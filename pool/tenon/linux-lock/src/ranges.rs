//! [`Ranges`]: locks for bytes of files, and for files as a whole.

use tenon_process::{Errno, Frames, Objects, has_share};

/// Locks at a time.
const LOCKS: u32 = 8192;
/// Waits for a lock at a time: those of threads.
const WAITS: u32 = 1024;

/// What has a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A process, by a number of its own among locks.
    Process(u32),
    /// An open file description.
    Description(u32),
}

/// Locks of one kind do not concern those of the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// For bytes (`fcntl`).
    Record,
    /// For a file as a whole (`flock`).
    Whole,
}

/// A lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lock {
    pub(crate) inode: u32,
    pub(crate) owner: Owner,
    pub(crate) kind: Kind,
    pub(crate) exclusive: bool,
    /// The first byte and the last one.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// The number of the process that set it.
    pub(crate) process: u32,
}

impl Lock {
    fn is_of(&self, other: &Self) -> bool {
        (self.inode, self.kind, self.owner) == (other.inode, other.kind, other.owner)
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    fn conflicts(&self, other: &Self) -> bool {
        (self.inode, self.kind) == (other.inode, other.kind)
            && self.owner != other.owner
            && (self.exclusive || other.exclusive)
            && self.overlaps(other)
    }

    /// Whether nothing is between two locks of a kind.
    fn touches(&self, other: &Self) -> bool {
        self.first <= other.last.saturating_add(1) && other.first <= self.last.saturating_add(1)
    }
}

/// All locks, and which owner waits for which.
#[derive(Debug)]
pub(crate) struct Ranges {
    locks: Objects<Lock>,
    count: u32,
    waits: Objects<(Owner, Owner)>,
    wait_count: u32,
}

impl Ranges {
    pub(crate) const fn new() -> Self {
        Self {
            locks: Objects::new(LOCKS),
            count: 0,
            waits: Objects::new(WAITS),
            wait_count: 0,
        }
    }

    /// The numbers of all locks from one on.
    fn next(&self, from: u32) -> Option<u32> {
        self.locks.numbers(from).next()
    }

    /// The first lock that `matches`.
    fn find(&self, matches: impl Fn(&Lock) -> bool) -> Option<u32> {
        let (mut left, mut from) = (self.count, 0);
        while left > 0 {
            let number = self.next(from)?;
            if self.locks.get(number).is_some_and(&matches) {
                return Some(number);
            }
            (left, from) = (left - 1, number + 1);
        }
        None
    }

    /// The lock that keeps another one from being set.
    pub(crate) fn conflict(&self, lock: &Lock) -> Option<Lock> {
        let number = self.find(|other| lock.conflicts(other))?;
        self.locks.get(number).copied()
    }

    /// The first one in the file of the locks that keep another one from being set.
    pub(crate) fn first_conflict(&self, lock: &Lock) -> Option<Lock> {
        let all = self.locks.numbers(0).take(self.count as usize);
        let all = all.filter_map(|number| self.locks.get(number));
        let conflicts = all.filter(|other| lock.conflicts(other));
        conflicts.min_by_key(|other| other.first).copied()
    }

    /// Whether the owner of a lock has one of its kind.
    pub(crate) fn holds(&self, lock: &Lock) -> bool {
        self.find(|other| other.is_of(lock)).is_some()
    }

    fn insert(&mut self, lock: Lock, frames: &mut Frames) -> Result<u32, Errno> {
        let own = || {
            let all = self.locks.numbers(0);
            let all = all.filter_map(|number| self.locks.get(number));
            all.filter(|other| other.owner == lock.owner).count() as u32
        };
        if !has_share(self.count, LOCKS, own) {
            return Err(Errno::ENOLCK);
        }
        let inserted = self.locks.insert(lock, 0, frames);
        let number = inserted.map_err(|_| Errno::ENOLCK)?;
        self.count += 1;
        Ok(number)
    }

    fn remove(&mut self, number: u32, frames: &mut Frames) {
        self.count -= u32::from(self.locks.remove(number, frames).is_some());
    }

    /// Ends an owner's locks for a range; sets a lock for it if that is `set`. There is no conflict.
    pub(crate) fn apply(
        &mut self,
        mut lock: Lock,
        set: bool,
        frames: &mut Frames,
    ) -> Result<(), Errno> {
        // What can fail comes first: the new lock, and the end of one that the range divides.
        let new = if set {
            Some(self.insert(lock, frames)?)
        } else {
            None
        };
        let divided = self.find(|other| {
            let inner = other.first < lock.first && lock.last < other.last;
            let alike = set && other.exclusive == lock.exclusive;
            other.is_of(&lock) && inner && !alike
        });
        if let Some(mut rest) = divided.and_then(|number| self.locks.get(number).copied()) {
            rest.first = lock.last + 1;
            if let Err(error) = self.insert(rest, frames) {
                if let Some(new) = new {
                    self.remove(new, frames);
                }
                return Err(error);
            }
        }
        let (mut left, mut from) = (self.count, 0);
        while left > 0
            && let Some(number) = self.next(from)
        {
            (left, from) = (left - 1, number + 1);
            if Some(number) == new {
                continue;
            }
            let Some(other) = self
                .locks
                .get_mut(number)
                .filter(|other| other.is_of(&lock))
            else {
                continue;
            };
            if set && other.exclusive == lock.exclusive && other.touches(&lock) {
                lock.first = lock.first.min(other.first);
                lock.last = lock.last.max(other.last);
                self.remove(number, frames);
            } else if other.overlaps(&lock) {
                if other.first < lock.first {
                    other.last = lock.first - 1;
                } else if other.last > lock.last {
                    other.first = lock.last + 1;
                } else {
                    self.remove(number, frames);
                }
            }
        }
        if let Some(place) = new.and_then(|new| self.locks.get_mut(new)) {
            *place = lock;
        }
        Ok(())
    }

    /// Ends all locks of an owner, of one inode if stated; returns whether there was one.
    pub(crate) fn end(&mut self, owner: Owner, inode: Option<u32>, frames: &mut Frames) -> bool {
        let mut found = false;
        let (mut left, mut from) = (self.count, 0);
        while left > 0
            && let Some(number) = self.next(from)
        {
            (left, from) = (left - 1, number + 1);
            let ends =
                |lock: &Lock| lock.owner == owner && inode.is_none_or(|inode| lock.inode == inode);
            if self.locks.get(number).is_some_and(ends) {
                self.remove(number, frames);
                found = true;
            }
        }
        found
    }

    /// The owner that another one waits for.
    fn awaited(&self, owner: Owner) -> Option<Owner> {
        let (mut left, mut from) = (self.wait_count, 0);
        while left > 0 {
            let number = self.waits.numbers(from).next()?;
            let (waits, blocks) = *self.waits.get(number)?;
            if waits == owner {
                return Some(blocks);
            }
            (left, from) = (left - 1, number + 1);
        }
        None
    }

    /// Notes that an owner waits for another one; `EDEADLK` if that waits for it in the end.
    pub(crate) fn wait(
        &mut self,
        owner: Owner,
        blocks: Owner,
        frames: &mut Frames,
    ) -> Result<u32, Errno> {
        let mut at = Some(blocks);
        for _ in 0..WAITS {
            match at {
                Some(found) if found == owner => return Err(Errno::EDEADLK),
                Some(found) => at = self.awaited(found),
                None => break,
            }
        }
        let inserted = self.waits.insert((owner, blocks), 0, frames);
        let number = inserted.map_err(|_| Errno::ENOLCK)?;
        self.wait_count += 1;
        Ok(number)
    }

    /// Ends a wait.
    pub(crate) fn end_wait(&mut self, number: u32, frames: &mut Frames) {
        self.wait_count -= u32::from(self.waits.remove(number, frames).is_some());
    }
}
