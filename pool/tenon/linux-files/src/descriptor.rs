//! [`Described`]: objects of a kind with descriptors, and [`open`], which gives an object one.

use crate::flag::{CLOSE_ON_EXEC, NONBLOCK};
use tenon_process::{Caller, Errno, Frames, Objects, Operations, State};
use tenon_sync::Mutex;

/// `O_RDWR`.
const READ_AND_WRITE: u32 = 2;

/// Objects of a kind with descriptors, behind a mutex.
pub struct Described<T>(Mutex<Objects<T>>);

impl<T> Described<T> {
    /// No object, of `limit` at a time.
    pub const fn new(limit: u32) -> Self {
        Self(Mutex::new(Objects::new(limit)))
    }

    /// Calls `action` with the object of a number. `EBADF` if there is none.
    pub fn with<R>(
        &'static self,
        number: u32,
        action: impl FnOnce(&mut T) -> R,
    ) -> Result<R, Errno> {
        let mut objects = self.0.lock().map_err(|_| Errno::EBADF)?;
        Ok(action(objects.get_mut(number).ok_or(Errno::EBADF)?))
    }

    /// The first number from one on that has an object.
    pub fn next(&'static self, from: u32) -> Option<u32> {
        self.0.lock().ok()?.next(from)
    }

    /// Adds an object. `ENFILE` without room for it.
    pub fn insert(&'static self, object: T, frames: &mut Frames) -> Result<u32, Errno> {
        let mut objects = self.0.lock().map_err(|_| Errno::ENFILE)?;
        let inserted = objects.insert(object, 0, frames);
        inserted.map_err(|_| Errno::ENFILE)
    }

    /// Removes an object, as its last description is closed.
    pub fn remove(&'static self, number: u32, frames: &mut Frames) {
        if let Ok(mut objects) = self.0.lock() {
            objects.remove(number, frames);
        }
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
