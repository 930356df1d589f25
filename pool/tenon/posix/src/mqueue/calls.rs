//! The C functions on message queues (POSIX.1-2017, `<mqueue.h>`).

use crate::mqueue::attributes::Attributes;
use crate::mqueue::channel;
use crate::mqueue::flags::{
    ACCESS, CREATE, EXCLUSIVE, NON_BLOCKING, READ_ONLY, READ_WRITE, WRITE_ONLY,
};
use crate::mqueue::queue::Blocking;
use crate::mqueue::store::{Message, PRIORITIES};
use crate::mqueue::table::{self, NAME_MAX, Name, Opened, Operation, QueueSpec};
use core::ffi::{c_char, c_int, c_uint, c_void};
use core::ptr::{self, NonNull};
use tenon_libc::time::{Clock, Timespec};
use tenon_libc::{Errno, errno};
use tenon_pthread::signal::event::SigEvent;
use tenon_pthread::wait::{self, Effect};

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// Default attributes: number and size of messages.
const DEFAULT: (usize, usize) = (10, 128);
/// Maximum number of messages of a queue; they are initialised in one masked section.
const MAX_MESSAGES: usize = 1 << 12;

/// Reads a name: a slash, and one to [`NAME_MAX`] other characters.
///
/// # Safety
///
/// `name` is a NUL-terminated string.
unsafe fn name(name: *const c_char) -> Result<Name, Errno> {
    // SAFETY: `name` is a NUL-terminated string, as the caller ensures.
    let name = unsafe { core::ffi::CStr::from_ptr(name) }.to_bytes();
    let name = name.strip_prefix(b"/").ok_or(Errno::EINVAL)?;
    if name.len() > NAME_MAX {
        return Err(Errno::ENAMETOOLONG);
    }
    if name.is_empty() || name.contains(&b'/') {
        return Err(Errno::EINVAL);
    }
    let mut whole = [0; NAME_MAX];
    for (to, from) in whole.iter_mut().zip(name) {
        *to = *from;
    }
    Ok(whole)
}

/// Opens a queue, and creates it if `O_CREAT` is set and it does not exist. C passes the last two
/// arguments with `O_CREAT` only; a variadic function receives them in the same registers as any
/// other (AAPCS64, 6.8.2).
///
/// # Safety
///
/// `path` is a NUL-terminated string; with `O_CREAT`, `attributes` is null or points to a `struct
/// mq_attr`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_open(
    path: *const c_char,
    flags: c_int,
    _mode: c_uint,
    attributes: *const Attributes,
) -> c_int {
    // SAFETY: the caller ensures the same of the arguments as `open` requires.
    let opened = unsafe { open(path, flags, attributes) };
    opened.unwrap_or_else(Errno::raise)
}

unsafe fn open(
    path: *const c_char,
    flags: c_int,
    attributes: *const Attributes,
) -> Result<c_int, Errno> {
    // SAFETY: `path` is a NUL-terminated string, as the caller ensures.
    let name = unsafe { name(path) }?;
    if flags & ACCESS > READ_WRITE {
        return Err(Errno::EINVAL);
    }
    if let Some(opened) = channel::open(&name, flags) {
        return opened;
    }
    let kept = flags & (ACCESS | NON_BLOCKING);
    let exclusive = flags & CREATE != 0 && flags & EXCLUSIVE != 0;
    let old = table::open(&name, kept, exclusive, None);
    if flags & CREATE == 0 || !matches!(old, Err(Errno::ENOENT)) {
        return old.map(|(Opened::Existing(number) | Opened::Created(number))| number);
    }
    let (capacity, size) = if attributes.is_null() {
        DEFAULT
    } else {
        // SAFETY: with `O_CREAT`, `attributes` is null, which was checked, or points to a `struct
        // mq_attr`.
        let Attributes { capacity, size, .. } = unsafe { *attributes };
        let number = |number| usize::try_from(number).ok().filter(|&number| number > 0);
        number(capacity).zip(number(size)).ok_or(Errno::EINVAL)?
    };
    let room = Message::room(size).ok_or(Errno::ENOSPC)?;
    let whole = room
        .checked_mul(capacity)
        .filter(|_| capacity <= MAX_MESSAGES);
    // SAFETY: `malloc` accepts any size.
    let memory = whole.and_then(|size| NonNull::new(unsafe { malloc(size) }));
    let spec = QueueSpec {
        capacity,
        size,
        room,
        memory: memory.ok_or(Errno::ENOSPC)?,
    };
    let opened = table::open(&name, kept, exclusive, Some(&spec));
    if !matches!(opened, Ok(Opened::Created(_))) {
        // SAFETY: the queue was not created, or another thread created it first, so that the memory
        // is unused.
        unsafe { free(spec.memory.as_ptr()) };
    }
    opened.map(|(Opened::Existing(number) | Opened::Created(number))| number)
}

/// Closes a descriptor.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn mq_close(descriptor: c_int) -> c_int {
    errno::report(channel::close(descriptor).unwrap_or_else(|| table::close(descriptor)))
}

/// Unlinks the name of a queue, which is removed with its last descriptor.
///
/// # Safety
///
/// `path` is a NUL-terminated string.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_unlink(path: *const c_char) -> c_int {
    // SAFETY: `path` is a NUL-terminated string, as the caller ensures.
    errno::report(match unsafe { name(path) } {
        // No queue has a malformed name.
        Err(Errno::EINVAL) => Err(Errno::ENOENT),
        name => name.and_then(|name| table::unlink(&name)),
    })
}

/// Begins an operation, unless the access mode of the descriptor is `refused`.
fn enter(descriptor: c_int, refused: c_int) -> Result<Operation, Errno> {
    let used = table::enter(descriptor)?;
    if used.flags & ACCESS == refused {
        return Err(Errno::EBADF);
    }
    Ok(used)
}

/// Repeats an operation while its wait is interrupted by signals with `SA_RESTART`. In between the
/// operation holds nothing of the queue, so that a cancellation request may act.
fn restart_while_interrupted<R>(operation: impl Fn() -> Result<R, Errno>) -> Result<R, Errno> {
    wait::act_on_pending();
    loop {
        let outcome = operation();
        let interrupted = matches!(outcome, Err(Errno::EINTR));
        if !interrupted || wait::act_on_pending() == Effect::Interrupt {
            return outcome;
        }
    }
}

/// The blocking mode of an operation; the timeout is evaluated only when it is needed.
///
/// # Safety
///
/// `time` is null, for no timeout, or points to a `struct timespec`.
unsafe fn blocking(flags: c_int, time: *const Timespec) -> Result<Blocking, Errno> {
    if flags & NON_BLOCKING != 0 {
        return Ok(Blocking::Never);
    }
    // SAFETY: `time` is null or points to a value of its type, as the caller ensures.
    match unsafe { time.as_ref() } {
        None => Ok(Blocking::Forever),
        Some(time) => Clock::Realtime.instant(time).map(Blocking::Until),
    }
}

/// Replaces null, which C may pass for no bytes, by a dangling pointer.
fn or_dangling(bytes: *mut u8) -> *mut u8 {
    NonNull::new(bytes).unwrap_or(NonNull::dangling()).as_ptr()
}

/// Sends a message, blocking while the queue is full.
///
/// # Safety
///
/// `text` is valid for reads of `length` bytes.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_send(
    descriptor: c_int,
    text: *const u8,
    length: usize,
    priority: c_uint,
) -> c_int {
    // SAFETY: `text` is valid for reads of `length` bytes, as the caller ensures; the timeout is
    // null.
    unsafe { mq_timedsend(descriptor, text, length, priority, ptr::null()) }
}

/// Sends a message, with a timeout of the realtime clock.
///
/// # Safety
///
/// `text` is valid for reads of `length` bytes; `until` is null, for no timeout, or points to a
/// `struct timespec`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_timedsend(
    descriptor: c_int,
    text: *const u8,
    length: usize,
    priority: c_uint,
    until: *const Timespec,
) -> c_int {
    if channel::is_channel(descriptor) {
        // SAFETY: `text` is valid for reads of `length` bytes, as the caller ensures; for no bytes
        // it is replaced by a dangling pointer.
        let message = unsafe { core::slice::from_raw_parts(or_dangling(text.cast_mut()), length) };
        // SAFETY: `until` is null or points to a `struct timespec`, as the caller ensures.
        let timeout = |flags| unsafe { blocking(flags, until) };
        return errno::report(channel::send(descriptor, message, priority, timeout));
    }
    let sent = restart_while_interrupted(|| {
        if priority >= PRIORITIES {
            return Err(Errno::EINVAL);
        }
        let used = enter(descriptor, READ_ONLY)?;
        let queue = used.queue();
        if length > queue.size() {
            return Err(Errno::EMSGSIZE);
        }
        // SAFETY: `until` is null or points to a `struct timespec`, as the caller ensures.
        let message = queue.reserve(|| unsafe { blocking(used.flags, until) })?;
        // SAFETY: this thread owns the message, which has room for `length` bytes; `text` is valid
        // for reads of as many, as the caller ensures.
        unsafe { ptr::copy_nonoverlapping(text, message.bytes(), length) };
        message.describe(length, priority);
        let first = queue.put(message);
        if first {
            used.notify_first();
        }
        Ok(first)
    });
    if sent == Ok(true) {
        // The signal may be for the sender itself.
        wait::act_on_pending();
    }
    errno::report(sent.map(|_| ()))
}

/// Receives the oldest message of the highest priority, blocking while the queue is empty.
///
/// # Safety
///
/// `text` is valid for writes of `room` bytes; `priority` is null or valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_receive(
    descriptor: c_int,
    text: *mut u8,
    room: usize,
    priority: *mut c_uint,
) -> isize {
    // SAFETY: the pointers are valid for the writes of `mq_timedreceive`, as the caller ensures;
    // the timeout is null.
    unsafe { mq_timedreceive(descriptor, text, room, priority, ptr::null()) }
}

/// Receives a message, with a timeout of the realtime clock.
///
/// # Safety
///
/// The requirements of [`mq_receive`]; `until` is null, for no timeout, or points to a `struct
/// timespec`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_timedreceive(
    descriptor: c_int,
    text: *mut u8,
    room: usize,
    priority: *mut c_uint,
    until: *const Timespec,
) -> isize {
    if channel::is_channel(descriptor) {
        // SAFETY: `text` is valid for writes of `room` bytes, as the caller ensures; for no bytes
        // it is replaced by a dangling pointer.
        let buffer = unsafe { core::slice::from_raw_parts_mut(or_dangling(text), room) };
        // SAFETY: `until` is null or points to a `struct timespec`, as the caller ensures.
        let timeout = |flags| unsafe { blocking(flags, until) };
        let received = channel::receive(descriptor, buffer, timeout);
        // SAFETY: `priority` is null or valid for a write, as the caller ensures.
        if let (Ok(_), Some(priority)) = (received, unsafe { priority.as_mut() }) {
            *priority = 0;
        }
        return received.map_or_else(|errno| errno.raise() as isize, |length| length as isize);
    }
    let received = restart_while_interrupted(|| {
        let used = enter(descriptor, WRITE_ONLY)?;
        let queue = used.queue();
        if room < queue.size() {
            return Err(Errno::EMSGSIZE);
        }
        // SAFETY: `until` is null or points to a `struct timespec`, as the caller ensures.
        let message = queue.receive(|| unsafe { blocking(used.flags, until) })?;
        let length = message.length();
        // SAFETY: this thread owns the message; `text` is valid for writes of `room` bytes, which
        // are at least the length, and `priority` is null or valid for a write, as the caller
        // ensures.
        unsafe {
            ptr::copy_nonoverlapping(message.bytes(), text, length);
            if !priority.is_null() {
                priority.write(message.priority());
            }
        }
        queue.release(message);
        Ok(length as isize)
    });
    received.unwrap_or_else(|errno| errno.raise() as isize)
}

/// Requests a notification of the next message that arrives at the empty queue without receivers,
/// or withdraws the request.
///
/// # Safety
///
/// `event` is null or points to a `struct sigevent`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_notify(descriptor: c_int, event: *const SigEvent) -> c_int {
    // SAFETY: `event` is null or points to a value of its type, as the caller ensures.
    let wanted = unsafe { event.as_ref() }.copied();
    errno::report((|| {
        if channel::is_channel(descriptor) {
            return Err(Errno::ENOTSUP);
        }
        let used = table::enter(descriptor)?;
        wanted.map_or(Ok(()), |wanted| wanted.check())?;
        used.notify(descriptor, wanted)
    })())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_one_slash() {
        // SAFETY: each is a C string literal.
        let read = |text: &core::ffi::CStr| unsafe { name(text.as_ptr()) };
        assert_eq!(read(c"/a").map(|name| name[..2] == *b"a\0"), Ok(true));
        for wrong in [c"", c"a", c"/", c"/a/b"] {
            assert_eq!(read(wrong), Err(Errno::EINVAL));
        }
        assert!(read(c"/1234567890123456789012345678901").is_ok());
        let long = read(c"/12345678901234567890123456789012");
        assert_eq!(long, Err(Errno::ENAMETOOLONG));
    }
}
