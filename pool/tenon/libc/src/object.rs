//! Objects in a program's memory: a mutex, a semaphore.
//!
//! An object begins with a mark, by which one that was never made, or was unmade, is refused; a
//! whole one of zeros may be a static initialiser.

use crate::errno::Errno;
use core::cell::Cell;

/// An object that C holds.
///
/// # Safety
///
/// Any bytes are a value of the type, and it is used with interrupts masked or by one thread at a
/// time.
pub unsafe trait Object: 'static {
    /// What marks a made one; not zero.
    const MARK: u32;

    /// Where its mark is.
    fn mark(&self) -> &Cell<u32>;

    /// Makes what was initialised with zeros, if zeros are an initialiser.
    fn init_static(&self) -> Result<(), Errno> {
        Err(Errno::EINVAL)
    }
}

/// The object at an address from C, made if it is a static initialiser.
///
/// # Safety
///
/// The address is null, or there is an object as long as anybody uses it.
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

/// What an unmade object has for its mark.
pub const DESTROYED: u32 = u32::MAX;
