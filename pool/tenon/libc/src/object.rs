//! Synchronisation objects in the memory of a C program: mutex, semaphore and the like.
//!
//! An object begins with a mark, by which an uninitialised or destroyed one is refused; one of
//! zeros may be a static initialiser.

use crate::errno::Errno;
use core::cell::Cell;

/// An object in the memory of a C program.
///
/// # Safety
///
/// Every bit pattern is a valid value of the type, and the object is accessed with interrupts
/// masked or by one thread at a time.
pub unsafe trait Object: 'static {
    /// Mark of an initialised object; not zero.
    const MARK: u32;

    /// The object's mark.
    fn mark(&self) -> &Cell<u32>;

    /// Initialises an object of zeros, if zeros are a static initialiser.
    fn init_static(&self) -> Result<(), Errno> {
        Err(Errno::EINVAL)
    }
}

/// The object at an address from C, initialised if it is a static initialiser.
///
/// # Safety
///
/// `address` is null, or points to an object that exists as long as it is used.
#[inline(always)]
pub unsafe fn at<T: Object>(address: *const T) -> Result<&'static T, Errno> {
    // SAFETY: `address` is null or points to a value of its type, as the caller ensures.
    let object = unsafe { address.as_ref() }.ok_or(Errno::EINVAL)?;
    if object.mark().get() != T::MARK {
        first_use(object)?;
    }
    Ok(object)
}

#[cold]
fn first_use<T: Object>(object: &'static T) -> Result<(), Errno> {
    if object.mark().get() != 0 {
        return Err(Errno::EINVAL);
    }
    object.init_static()?;
    object.mark().set(T::MARK);
    Ok(())
}

/// Mark of an uninitialised or destroyed object.
pub const DESTROYED: u32 = u32::MAX;
