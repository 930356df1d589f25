//! `<mqueue.h>` (POSIX.1-2017).

use crate::mqueue::attributes::Attributes;
use crate::mqueue::channel;
use crate::mqueue::flags::{
    ACCESS, CREATE, EXCLUSIVE, NON_BLOCKING, READ_ONLY, READ_WRITE, WRITE_ONLY,
};
use crate::mqueue::queue::Patience;
use crate::mqueue::store::{Message, PRIORITIES};
use crate::mqueue::table::{self, NAME_MAX, Name, Opened, Plan, Use};
use core::ffi::{c_char, c_int, c_uint, c_void};
use core::ptr::{self, NonNull};
use tenon_libc::time::{Clock, Timespec};
use tenon_libc::{Errno, errno};
use tenon_pthread::signal::event::Wanted;
use tenon_pthread::wait::{self, Attended};

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// A queue whose maker says nothing of it: so many messages of so many bytes.
const USUAL: (usize, usize) = (10, 128);
/// The most messages of a queue: filling it is one masked section.
const MOST: usize = 1 << 12;

/// Reads a name: a slash, and one to [`NAME_MAX`] others that are none.
///
/// # Safety
///
/// The name is a string of C.
unsafe fn name(name: *const c_char) -> Result<Name, Errno> {
    // SAFETY: the caller's contract.
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

/// Opens a queue, and makes it if `O_CREAT` says so and there is none. In C the last two are there
/// with `O_CREAT` only; a variadic function takes them where any other does (AAPCS64, 6.8.2).
///
/// # Safety
///
/// The name is a string; with `O_CREAT`, the attributes are null or a `struct mq_attr`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_open(
    path: *const c_char,
    flags: c_int,
    _mode: c_uint,
    attributes: *const Attributes,
) -> c_int {
    // SAFETY: the caller's contract.
    let opened = unsafe { open(path, flags, attributes) };
    opened.unwrap_or_else(Errno::raise)
}

unsafe fn open(
    path: *const c_char,
    flags: c_int,
    attributes: *const Attributes,
) -> Result<c_int, Errno> {
    // SAFETY: the caller's contract.
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
        return old.map(|(Opened::Old(number) | Opened::New(number))| number);
    }
    let (most, size) = if attributes.is_null() {
        USUAL
    } else {
        // SAFETY: with `O_CREAT` there are some.
        let Attributes { most, size, .. } = unsafe { *attributes };
        let number = |number| usize::try_from(number).ok().filter(|&number| number > 0);
        number(most).zip(number(size)).ok_or(Errno::EINVAL)?
    };
    let room = Message::room(size).ok_or(Errno::ENOSPC)?;
    let whole = room.checked_mul(most).filter(|_| most <= MOST);
    // SAFETY: any number of bytes may be asked for.
    let memory = whole.and_then(|size| NonNull::new(unsafe { malloc(size) }));
    let plan = Plan {
        most,
        size,
        room,
        memory: memory.ok_or(Errno::ENOSPC)?,
    };
    let opened = table::open(&name, kept, exclusive, Some(&plan));
    if !matches!(opened, Ok(Opened::New(_))) {
        // Somebody else made it in between, or it cannot be made.
        // SAFETY: nobody uses it.
        unsafe { free(plan.memory.as_ptr()) };
    }
    opened.map(|(Opened::Old(number) | Opened::New(number))| number)
}

/// Closes a descriptor.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn mq_close(descriptor: c_int) -> c_int {
    errno::report(channel::close(descriptor).unwrap_or_else(|| table::close(descriptor)))
}

/// Takes its name from a queue, which ends with its last descriptor.
///
/// # Safety
///
/// The name is a string.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_unlink(path: *const c_char) -> c_int {
    // SAFETY: the caller's contract.
    errno::report(match unsafe { name(path) } {
        // No queue has such a name.
        Err(Errno::EINVAL) => Err(Errno::ENOENT),
        name => name.and_then(|name| table::unlink(&name)),
    })
}

/// Begins an operation for which the descriptor must be open in that way.
fn enter(descriptor: c_int, refused: c_int) -> Result<Use, Errno> {
    let used = table::enter(descriptor)?;
    if used.flags & ACCESS == refused {
        return Err(Errno::EBADF);
    }
    Ok(used)
}

/// Repeats an operation for as long as what interrupts it has its wait go on. Nothing of the queue is
/// held in between, where a cancel ends the thread.
fn persist<R>(operation: impl Fn() -> Result<R, Errno>) -> Result<R, Errno> {
    wait::attend();
    loop {
        let outcome = operation();
        let interrupted = matches!(outcome, Err(Errno::EINTR));
        if !interrupted || wait::attend() == Attended::Interrupt {
            return outcome;
        }
    }
}

/// How long an operation may wait; a time is looked at only if it is needed.
///
/// # Safety
///
/// The time is null, for no limit, or a `struct timespec`.
unsafe fn patience(flags: c_int, time: *const Timespec) -> Result<Patience, Errno> {
    if flags & NON_BLOCKING != 0 {
        return Ok(Patience::None);
    }
    // SAFETY: the caller's contract.
    match unsafe { time.as_ref() } {
        None => Ok(Patience::Endless),
        Some(time) => Clock::Realtime.instant(time).map(Patience::Until),
    }
}

/// The place of bytes, which C may have nowhere if there are none.
fn somewhere(bytes: *mut u8) -> *mut u8 {
    NonNull::new(bytes).unwrap_or(NonNull::dangling()).as_ptr()
}

/// Sends a message, waiting for room.
///
/// # Safety
///
/// `length` bytes stand at `text`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_send(
    descriptor: c_int,
    text: *const u8,
    length: usize,
    priority: c_uint,
) -> c_int {
    // SAFETY: the caller's contract.
    unsafe { mq_timedsend(descriptor, text, length, priority, ptr::null()) }
}

/// Sends a message, waiting for room until a time of the realtime clock.
///
/// # Safety
///
/// `length` bytes stand at `text`; the time is null, for no limit, or a `struct timespec`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_timedsend(
    descriptor: c_int,
    text: *const u8,
    length: usize,
    priority: c_uint,
    until: *const Timespec,
) -> c_int {
    if channel::has(descriptor) {
        // SAFETY: the caller's contract; of no bytes the place is no matter.
        let message = unsafe { core::slice::from_raw_parts(somewhere(text.cast_mut()), length) };
        // SAFETY: as above.
        let limit = |flags| unsafe { patience(flags, until) };
        return errno::report(channel::send(descriptor, message, priority, limit));
    }
    let sent = persist(|| {
        if priority >= PRIORITIES {
            return Err(Errno::EINVAL);
        }
        let used = enter(descriptor, READ_ONLY)?;
        let queue = used.queue();
        if length > queue.size() {
            return Err(Errno::EMSGSIZE);
        }
        // SAFETY: the caller's contract.
        let message = queue.reserve(|| unsafe { patience(used.flags, until) })?;
        // SAFETY: the message is this thread's and has room; the caller says what it reads.
        unsafe { ptr::copy_nonoverlapping(text, message.bytes(), length) };
        message.describe(length, priority);
        let first = queue.put(message);
        if first {
            used.tell();
        }
        Ok(first)
    });
    if sent == Ok(true) {
        // The sender may be who is told.
        wait::attend();
    }
    errno::report(sent.map(|_| ()))
}

/// Receives the oldest message of the highest priority, waiting for one.
///
/// # Safety
///
/// There is room for `room` bytes at `text`; `priority` is null or a place for one.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_receive(
    descriptor: c_int,
    text: *mut u8,
    room: usize,
    priority: *mut c_uint,
) -> isize {
    // SAFETY: the caller's contract.
    unsafe { mq_timedreceive(descriptor, text, room, priority, ptr::null()) }
}

/// Receives a message, waiting for one until a time of the realtime clock.
///
/// # Safety
///
/// As for [`mq_receive`]; the time is null, for no limit, or a `struct timespec`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_timedreceive(
    descriptor: c_int,
    text: *mut u8,
    room: usize,
    priority: *mut c_uint,
    until: *const Timespec,
) -> isize {
    if channel::has(descriptor) {
        // SAFETY: the caller's contract; what lies there is bytes.
        let buffer = unsafe { core::slice::from_raw_parts_mut(somewhere(text), room) };
        // SAFETY: as above.
        let limit = |flags| unsafe { patience(flags, until) };
        let received = channel::receive(descriptor, buffer, limit);
        // SAFETY: as above.
        if let (Ok(_), Some(priority)) = (received, unsafe { priority.as_mut() }) {
            *priority = 0;
        }
        return received.map_or_else(|errno| errno.raise() as isize, |length| length as isize);
    }
    let received = persist(|| {
        let used = enter(descriptor, WRITE_ONLY)?;
        let queue = used.queue();
        if room < queue.size() {
            return Err(Errno::EMSGSIZE);
        }
        // SAFETY: the caller's contract.
        let message = queue.receive(|| unsafe { patience(used.flags, until) })?;
        let length = message.length();
        // SAFETY: the message is this thread's; the caller says there is room, and for the priority.
        unsafe {
            ptr::copy_nonoverlapping(message.bytes(), text, length);
            if !priority.is_null() {
                priority.write(message.priority());
            }
        }
        queue.give_back(message);
        Ok(length as isize)
    });
    received.unwrap_or_else(|errno| errno.raise() as isize)
}

/// Has the program told when the next message comes to an empty queue nobody waits at, or not any
/// more.
///
/// # Safety
///
/// The event is null or a `struct sigevent`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn mq_notify(descriptor: c_int, event: *const Wanted) -> c_int {
    // SAFETY: the caller's contract.
    let wanted = unsafe { event.as_ref() }.copied();
    errno::report((|| {
        if channel::has(descriptor) {
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
        // SAFETY: all are strings.
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
