//! Attributes of message queues (POSIX.1-2017, `mq_getattr`).

use crate::mqueue::channel;
use crate::mqueue::flags::{ACCESS, NON_BLOCKING};
use crate::mqueue::table::{self, Operation};
use core::ffi::{c_int, c_long};
use tenon_libc::{Errno, errno};

/// `struct mq_attr`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Attributes {
    pub(crate) flags: c_long,
    pub(crate) capacity: c_long,
    pub(crate) size: c_long,
    pub(crate) count: c_long,
}

/// Reads the attributes of a descriptor and its queue.
///
/// # Safety
///
/// `attributes` is valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_getattr(descriptor: c_int, attributes: *mut Attributes) -> c_int {
    errno::report(describe(descriptor).map(|found| {
        // SAFETY: `attributes` is valid for a write, as the caller ensures.
        unsafe { attributes.write(found) };
    }))
}

fn describe(descriptor: c_int) -> Result<Attributes, Errno> {
    if channel::is_channel(descriptor) {
        return channel::describe(descriptor).map(|end| Attributes {
            flags: end.flags.into(),
            capacity: end.capacity as c_long,
            size: end.size as c_long,
            count: end.count as c_long,
        });
    }
    table::enter(descriptor).map(|used| attributes(&used))
}

fn attributes(used: &Operation) -> Attributes {
    let queue = used.queue();
    Attributes {
        flags: c_long::from(used.flags & NON_BLOCKING),
        capacity: queue.capacity() as c_long,
        size: queue.size() as c_long,
        count: queue.count() as c_long,
    }
}

/// Changes the blocking mode of a descriptor and stores the former attributes.
///
/// # Safety
///
/// `new` points to a `struct mq_attr`; `old` is null or valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_setattr(
    descriptor: c_int,
    new: *const Attributes,
    old: *mut Attributes,
) -> c_int {
    errno::report((|| {
        let before = describe(descriptor)?;
        // SAFETY: `new` points to a value of its type, as the caller ensures.
        let flags = unsafe { (*new).flags } as c_int & NON_BLOCKING;
        if channel::is_channel(descriptor) {
            channel::set_flags(descriptor, flags)?;
        } else {
            let access = table::enter(descriptor)?.flags & ACCESS;
            table::set_flags(descriptor, access | flags)?;
        }
        if !old.is_null() {
            // SAFETY: `old` is not null, and then valid for a write, as the caller ensures.
            unsafe { old.write(before) };
        }
        Ok(())
    })())
}
