//! [`Described`]: objects of a kind with descriptors, and [`open`], which gives an object one.

use crate::flag::{CLOSE_ON_EXEC, NONBLOCK};
use tenon_process::{Caller, Errno, Frames, Objects, Operations, State, has_share};
use tenon_sync::Mutex;

/// `O_RDWR`.
const READ_AND_WRITE: u32 = 2;

/// Objects of a kind with descriptors, behind a mutex. No user has all of them.
pub struct Described<T>(Mutex<Table<T>>);

impl<T> Described<T> {
    /// No object, of `limit` at a time.
    pub const fn new(limit: u32) -> Self {
        Self(Mutex::new(Table::new(limit)))
    }

    /// Calls `action` with the object of a number. `EBADF` if there is none.
    pub fn with<R>(
        &'static self,
        number: u32,
        action: impl FnOnce(&mut T) -> R,
    ) -> Result<R, Errno> {
        let mut table = self.0.lock().map_err(|_| Errno::EBADF)?;
        let (_, object) = table.objects.get_mut(number).ok_or(Errno::EBADF)?;
        Ok(action(object))
    }

    /// The first number from one on that has an object.
    pub fn next(&'static self, from: u32) -> Option<u32> {
        self.0.lock().ok()?.objects.next(from)
    }

    /// Adds an object of the caller. `ENFILE` without room for it, or if its user has too many.
    pub fn insert(
        &'static self,
        state: &mut State,
        caller: &Caller,
        object: T,
    ) -> Result<u32, Errno> {
        let (process, frames, _) = caller.parts(state)?;
        let user = process.credentials.user().real;
        let mut table = self.0.lock().map_err(|_| Errno::ENFILE)?;
        table.insert((user, object), frames)
    }

    /// Removes an object, as its last description is closed.
    pub fn remove(&'static self, number: u32, frames: &mut Frames) {
        if let Ok(mut table) = self.0.lock() {
            table.count -= u32::from(table.objects.remove(number, frames).is_some());
        }
    }
}

/// Objects, each with the user that opened it.
struct Table<T> {
    objects: Objects<(u32, T)>,
    /// How many there are.
    count: u32,
}

impl<T> Table<T> {
    const fn new(limit: u32) -> Self {
        Self {
            objects: Objects::new(limit),
            count: 0,
        }
    }

    fn insert(&mut self, object: (u32, T), frames: &mut Frames) -> Result<u32, Errno> {
        let objects = &self.objects;
        let own = || {
            let all = objects.numbers(0).filter_map(|number| objects.get(number));
            all.filter(|other| other.0 == object.0).count() as u32
        };
        if !has_share(self.count, objects.limit(), own) {
            return Err(Errno::ENFILE);
        }
        let inserted = self.objects.insert(object, 0, frames);
        let number = inserted.map_err(|_| Errno::ENFILE)?;
        self.count += 1;
        Ok(number)
    }
}

/// Gives an object, which is opened and noted with its source, a descriptor of the caller with `O_NONBLOCK`
/// and `O_CLOEXEC` of `flags`.
pub fn open(
    state: &mut State,
    caller: &Caller,
    (operations, number): (&'static Operations, u32),
    flags: u32,
    note: impl FnOnce(u32),
) -> Result<u64, Errno> {
    let (_, frames, files) = caller.parts(state)?;
    let status = flags & NONBLOCK | READ_AND_WRITE;
    match files.open_special(operations, number, status, frames) {
        Ok((file, source)) => {
            note(source);
            caller.install(state, file, flags & CLOSE_ON_EXEC != 0)
        }
        Err(error) => {
            (operations.close)(files, number, frames);
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_cannot_have_all_objects() {
        let mut frames = Frames::of_host(64);
        let total = frames.available();
        let mut table = Table::new(64);
        let mut more = |user| table.insert((user, [0_u64; 20]), &mut frames).ok();
        assert_eq!((0..).map_while(|_| more(1)).count(), 32);
        assert_eq!((0..).map_while(|_| more(2)).count(), 8);
        assert_eq!((3..).map_while(more).count(), 24);
        for number in 0..64 {
            table.objects.remove(number, &mut frames);
        }
        assert_eq!(frames.available(), total);
    }
}
