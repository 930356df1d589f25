//! `struct mq_attr`, and what C asks by it.

use crate::mqueue::channel;
use crate::mqueue::flags::{ACCESS, NON_BLOCKING};
use crate::mqueue::table::{self, Use};
use core::ffi::{c_int, c_long};
use tenon_libc::{Errno, errno};

/// `struct mq_attr`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Attributes {
    pub(crate) flags: c_long,
    pub(crate) most: c_long,
    pub(crate) size: c_long,
    pub(crate) count: c_long,
}

/// What a descriptor and its queue are like.
///
/// # Safety
///
/// There is a place for it.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_getattr(descriptor: c_int, attributes: *mut Attributes) -> c_int {
    errno::report(describe(descriptor).map(|found| {
        // SAFETY: the caller's contract.
        unsafe { attributes.write(found) };
    }))
}

fn describe(descriptor: c_int) -> Result<Attributes, Errno> {
    if channel::has(descriptor) {
        return channel::describe(descriptor).map(|end| Attributes {
            flags: end.flags.into(),
            most: end.most as c_long,
            size: end.size as c_long,
            count: end.count as c_long,
        });
    }
    table::enter(descriptor).map(|used| attributes(&used))
}

fn attributes(used: &Use) -> Attributes {
    let queue = used.queue();
    Attributes {
        flags: c_long::from(used.flags & NON_BLOCKING),
        most: queue.most() as c_long,
        size: queue.size() as c_long,
        count: queue.count() as c_long,
    }
}

/// Changes whether a descriptor blocks, and says what it was like before.
///
/// # Safety
///
/// The new attributes are a `struct mq_attr`; there is a place for the old ones, unless it is null.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_setattr(
    descriptor: c_int,
    new: *const Attributes,
    old: *mut Attributes,
) -> c_int {
    errno::report((|| {
        let before = describe(descriptor)?;
        // SAFETY: the caller's contract.
        let flags = unsafe { (*new).flags } as c_int & NON_BLOCKING;
        if channel::has(descriptor) {
            channel::set_flags(descriptor, flags)?;
        } else {
            let access = table::enter(descriptor)?.flags & ACCESS;
            table::set_flags(descriptor, access | flags)?;
        }
        if !old.is_null() {
            // SAFETY: the caller's contract.
            unsafe { old.write(before) };
        }
        Ok(())
    })())
}
