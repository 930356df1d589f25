//! [`Objects`]: objects by identifiers and keys, with their permissions.

use core::fmt::{self, Write as _};
use core_log::Line;
use tenon_frames::{Frames, Table};
use tenon_fs_proc::LINE;
use tenon_process::{Caller, Errno, State, real_nanoseconds};

/// Commands of `semctl` and `msgctl`.
pub(crate) mod command {
    pub const REMOVE: i32 = 0;
    pub const SET: i32 = 1;
    pub const STATUS: i32 = 2;
    pub const INFORMATION: i32 = 3;
}

/// Flags of `semget` and `msgget`, and of operations.
pub(crate) mod flag {
    pub const CREATE: u32 = 0o1000;
    pub const EXCLUSIVE: u32 = 0o2000;
    pub const NO_WAIT: u32 = 0o4000;
}

/// `EIDRM`: the object was removed.
pub(crate) const REMOVED: Errno = Errno(43);
/// `ENOMSG`.
pub(crate) const NO_MESSAGE: Errno = Errno(42);
/// Bytes of `struct ipc64_perm`.
pub const HEAD: usize = 48;
/// What a place in the table has of an identifier.
const PLACE: u32 = 0xffff;

/// The error of a wait that a signal ends: as in Linux, a handler does not restart these calls.
pub(crate) fn interrupted(error: Errno) -> Errno {
    match error {
        Errno::ERESTARTSYS => Errno::EINTR,
        error => error,
    }
}

/// Seconds, as times of objects are.
pub(crate) fn now() -> u64 {
    real_nanoseconds() / 1_000_000_000
}

/// Key, users and permissions of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permission {
    /// The key, or zero.
    pub key: i32,
    /// User and group.
    pub owner: (u32, u32),
    /// User and group of its creator.
    pub creator: (u32, u32),
    /// Permissions.
    pub mode: u32,
    /// What the identifier has beyond the place.
    pub sequence: u32,
}

impl Permission {
    /// That of a new object of the caller.
    pub fn of(state: &mut State, caller: &Caller, key: i32, flags: u32) -> Result<Self, Errno> {
        let (process, ..) = caller.parts(state)?;
        let ids = &process.credentials;
        let owner = (ids.user().effective, ids.group().effective);
        Ok(Self {
            key,
            owner,
            creator: owner,
            mode: flags & 0o777,
            sequence: 0,
        })
    }

    /// Fails with `EACCES` unless the caller may do what is wanted.
    pub fn check(&self, state: &mut State, caller: &Caller, wanted: u32) -> Result<(), Errno> {
        let (process, ..) = caller.parts(state)?;
        let permitted = process
            .credentials
            .permits(self.owner, (self.mode, false), wanted);
        permitted.then_some(()).ok_or(Errno::EACCES)
    }

    /// Fails with `EPERM` unless the caller may remove or change the object.
    pub fn check_owner(&self, state: &mut State, caller: &Caller) -> Result<(), Errno> {
        let (process, ..) = caller.parts(state)?;
        let user = process.credentials.user().effective;
        let owns = user == self.owner.0 || user == self.creator.0 || user == 0;
        owns.then_some(()).ok_or(Errno::EPERM)
    }

    /// Writes key, identifier and permissions of the object at a place to a line of `/proc/sysvipc`.
    pub fn begin_line(&self, place: u32, line: &mut Line<LINE>) {
        let (key, identifier) = (self.key, place | self.sequence << 16);
        // There is room for it.
        let _ = write!(line, "{key:>10} {identifier:>10}  {:>4o}", self.mode);
    }

    /// Its users and groups, as such lines have them.
    pub fn owners(&self) -> Owners {
        Owners([self.owner.0, self.owner.1, self.creator.0, self.creator.1])
    }

    /// Takes user, group and permissions of a `struct ipc64_perm`.
    pub fn set(&mut self, bytes: &[u8; HEAD]) {
        let word = |at: usize| {
            let bytes = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
            u32::from_le_bytes(bytes.copied().unwrap_or_default())
        };
        self.owner = (word(4), word(8));
        self.mode = word(20) & 0o777;
    }

    /// Writes a `struct ipc64_perm` to the start of a structure.
    pub fn put(&self, to: &mut [u8]) {
        let words = [
            self.key.cast_unsigned(),
            self.owner.0,
            self.owner.1,
            self.creator.0,
            self.creator.1,
            self.mode,
            self.sequence,
        ];
        for (place, word) in to.chunks_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }
}

/// User and group of an object, and of its creator, as text.
pub struct Owners([u32; 4]);

impl fmt::Display for Owners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [user, group, creator, creator_group] = self.0;
        write!(f, "{user:>5} {group:>5} {creator:>5} {creator_group:>5}")
    }
}

/// What has a permission.
pub trait Object {
    /// It, to change it.
    fn permission(&mut self) -> &mut Permission;
    /// It.
    fn permission_of(&self) -> &Permission;
}

/// All objects of a kind.
#[derive(Debug)]
pub struct Objects<T> {
    table: Table<T>,
    count: u32,
    /// Objects that were created, modulo a power of two.
    sequence: u32,
    /// The source at which threads wait for changes.
    pub source: Option<u32>,
}

impl<T: Object> Objects<T> {
    /// No object, of `limit` at a time.
    pub const fn new(limit: u32) -> Self {
        Self {
            table: Table::new(limit),
            count: 0,
            sequence: 0,
            source: None,
        }
    }

    /// Adds an object, with the identifier that `next` states, or with one that has a place behind that;
    /// returns its identifier, or the object where there is no room.
    pub fn insert(
        &mut self,
        mut object: T,
        next: Option<u32>,
        frames: &mut Frames,
    ) -> Result<u64, T> {
        let (place, sequence) = match next {
            Some(next) => (next & PLACE, next >> 16),
            // Identifiers are positive.
            None => (0, (self.sequence + 1) & 0x7fff),
        };
        self.sequence = sequence;
        object.permission().sequence = sequence;
        let number = self.table.insert(object, place, frames)?;
        self.count += 1;
        Ok((number | sequence << 16).into())
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The object of an identifier.
    pub fn get_mut(&mut self, identifier: i32) -> Result<&mut T, Errno> {
        let identifier = u32::try_from(identifier).map_err(|_| Errno::EINVAL)?;
        let object = self.table.get_mut(identifier & PLACE);
        object
            .filter(|object| object.permission_of().sequence == identifier >> 16)
            .ok_or(Errno::EINVAL)
    }

    /// The object at a place, with its identifier.
    pub fn at(&mut self, place: i32) -> Result<(u64, &mut T), Errno> {
        let place = u32::try_from(place).map_err(|_| Errno::EINVAL)?;
        // As in Linux, an identifier has its place in it.
        let place = place & PLACE;
        let object = self.table.get_mut(place).ok_or(Errno::EINVAL)?;
        let identifier = place | object.permission_of().sequence << 16;
        Ok((identifier.into(), object))
    }

    /// Removes an object.
    pub fn remove(&mut self, identifier: i32, frames: &mut Frames) -> Result<T, Errno> {
        self.get_mut(identifier)?;
        let number = identifier.cast_unsigned() & PLACE;
        let removed = self.table.remove(number, frames).ok_or(Errno::EINVAL)?;
        self.count -= 1;
        Ok(removed)
    }

    /// The object of a key with its identifier.
    pub fn of_key(&self, key: i32) -> Option<(u64, &T)> {
        let mut all = self.all();
        all.find(|(_, object)| object.permission_of().key == key)
            .map(|(number, object)| {
                let identifier = number | object.permission_of().sequence << 16;
                (identifier.into(), object)
            })
    }

    /// All objects with their places.
    pub fn all(&self) -> impl Iterator<Item = (u32, &T)> {
        self.all_from(0)
    }

    /// The objects from a place on.
    pub fn all_from(&self, place: u32) -> impl Iterator<Item = (u32, &T)> {
        let numbers = self.table.numbers(place);
        numbers.filter_map(|number| Some((number, self.table.get(number)?)))
    }

    /// The highest place of an object.
    pub fn highest(&self) -> u64 {
        self.all().last().map_or(0, |(number, _)| number.into())
    }

    /// The object of a key, as `semget` and `msgget` find it; `None` where a new one is to be created.
    pub fn find(
        &self,
        state: &mut State,
        caller: &Caller,
        (key, flags): (i32, u32),
    ) -> Result<Option<(u64, &T)>, Errno> {
        const PRIVATE: i32 = 0;
        if key == PRIVATE {
            return Ok(None);
        }
        let Some((identifier, object)) = self.of_key(key) else {
            return match flags & flag::CREATE {
                0 => Err(Errno::ENOENT),
                _ => Ok(None),
            };
        };
        if flags & flag::CREATE != 0 && flags & flag::EXCLUSIVE != 0 {
            return Err(Errno::EEXIST);
        }
        let wanted = flags >> 6 | flags >> 3 | flags;
        object.permission_of().check(state, caller, wanted & 0o7)?;
        Ok(Some((identifier, object)))
    }

    /// The source of these objects, which is created at the first wait.
    pub fn source(&mut self, state: &mut State, caller: &Caller) -> Result<u32, Errno> {
        let (_, frames, files) = caller.parts(state)?;
        files.source_in(&mut self.source, frames)
    }

    /// Wakes all that wait for changes.
    pub fn changed(&self, state: &mut State) {
        if let Some(source) = self.source {
            state.files.notify(source, tenon_process::ready::READABLE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct One(Permission);

    impl Object for One {
        fn permission(&mut self) -> &mut Permission {
            &mut self.0
        }

        fn permission_of(&self) -> &Permission {
            &self.0
        }
    }

    #[test]
    fn identifiers_and_keys_are_those_of_an_object() {
        let mut frames = Frames::of_host(64);
        let total = frames.available();
        let mut objects = Objects::new(100);
        let one = |key| {
            One(Permission {
                key,
                ..Permission::default()
            })
        };
        let first = objects.insert(one(7), None, &mut frames).unwrap() as i32;
        let second = objects.insert(one(8), None, &mut frames).unwrap() as i32;
        assert_eq!(objects.of_key(7).unwrap().0, first as u64);
        assert!(objects.of_key(9).is_none());
        assert_eq!(objects.at(1).unwrap().0, second as u64);
        assert_eq!(objects.highest(), 1);
        objects.remove(first, &mut frames).unwrap();
        assert_eq!(objects.get_mut(first).err(), Some(Errno::EINVAL));
        // The place has another identifier now.
        let third = objects.insert(one(7), None, &mut frames).unwrap() as i32;
        assert_eq!(third & 0xffff, first & 0xffff);
        assert_ne!(third, first);
        assert!(objects.get_mut(-1).is_err());
        // Identifiers that were chosen, the second of which has no place of its own.
        let chosen = objects.insert(one(9), Some(0x0007_0005), &mut frames);
        let chosen = chosen.unwrap() as i32;
        let other = objects.insert(one(9), Some(0x0009_0005), &mut frames);
        let other = other.unwrap() as i32;
        assert_eq!((chosen, other), (0x0007_0005, 0x0009_0006));
        assert!(objects.insert(one(9), Some(100), &mut frames).is_err());
        for identifier in [second, third, chosen, other] {
            objects.remove(identifier, &mut frames).unwrap();
        }
        assert_eq!(frames.available(), total);
    }

    #[test]
    fn a_permission_has_the_fields_of_linux() {
        let mut permission = Permission::default();
        let mut bytes = [0; HEAD];
        (bytes[4], bytes[8]) = (3, 4);
        bytes[20..22].copy_from_slice(&0o7640u16.to_le_bytes());
        permission.set(&bytes);
        assert_eq!((permission.owner, permission.mode), ((3, 4), 0o640));
        permission.key = 9;
        permission.put(&mut bytes);
        assert_eq!((bytes[0], bytes[4], bytes[8]), (9, 3, 4));
    }
}
