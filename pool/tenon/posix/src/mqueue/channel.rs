//! Channels to and from other VMs, as message queues.
//!
//! `mq_open("/telemetry", O_WRONLY)` opens this VM's end of the channel `telemetry` if the system
//! declares one. It is a queue whose other end is elsewhere: messages have no priorities, they come
//! in the order in which they were sent; `EPIPE` says once that the other end is gone. A thread that
//! waits for the other end is neither cancelled nor interrupted by signals.

use crate::mqueue::flags::{ACCESS, CREATE, EXCLUSIVE, NON_BLOCKING, READ_ONLY, WRITE_ONLY};
use crate::mqueue::queue::Patience;
use crate::mqueue::store::PRIORITIES;
use crate::mqueue::table::Name;
use core::ffi::{c_int, c_uint};
use core::sync::atomic::{AtomicI32, Ordering};
use tenon_channel::{Error, Receiver, Sender};
use tenon_libc::Errno;
use tenon_sync::{Mutex, MutexGuard};
use tenon_thread::environment::{self, ENDS};

/// The first descriptor of a channel: above all that queues have.
const FIRST: c_int = 0x7fff_ff00;

/// This VM's end of a channel.
enum End {
    Sender(Sender),
    Receiver(Receiver),
}

/// The place of an open end.
struct Place {
    end: Mutex<Option<End>>,
    flags: AtomicI32,
}

static PLACES: [Place; ENDS] = [const {
    Place {
        end: Mutex::new(None),
        flags: AtomicI32::new(0),
    }
}; ENDS];

/// What a channel's descriptor is like.
pub struct Description {
    /// Its flags.
    pub flags: c_int,
    /// How many messages it holds.
    pub most: usize,
    /// Bytes of a message at most.
    pub size: usize,
    /// How many messages are there.
    pub count: usize,
}

fn errno(error: Error) -> Errno {
    match error {
        Error::Absent => Errno::ENOENT,
        Error::OtherEnd => Errno::EACCES,
        Error::Taken => Errno::EBUSY,
        Error::Full | Error::Empty => Errno::EAGAIN,
        Error::TooLong => Errno::EMSGSIZE,
        Error::TimedOut => Errno::ETIMEDOUT,
        Error::PeerGone | Error::Corrupt => Errno::EPIPE,
        Error::Malformed | Error::Interrupt(_) | Error::Core => Errno::EINVAL,
    }
}

/// Opens the end that has this name, once at a time; nothing if there is none.
pub(crate) fn open(name: &Name, flags: c_int) -> Option<Result<c_int, Errno>> {
    let length = name.iter().position(|&byte| byte == 0);
    let name = name.get(..length.unwrap_or(name.len()))?;
    let name = core::str::from_utf8(name).ok()?;
    let channel = environment::channel(name)?;
    let index = channel.interrupt as usize % ENDS;
    Some(open_at(index, name, flags))
}

fn open_at(index: usize, name: &str, flags: c_int) -> Result<c_int, Errno> {
    if flags & CREATE != 0 && flags & EXCLUSIVE != 0 {
        return Err(Errno::EEXIST);
    }
    let place = PLACES.get(index).ok_or(Errno::EINVAL)?;
    let opened = match flags & ACCESS {
        WRITE_ONLY => Sender::open(name).map(End::Sender),
        READ_ONLY => Receiver::open(name).map(End::Receiver),
        _ => return Err(Errno::EACCES),
    };
    let mut end = lock(place, &|| Ok(Patience::Endless))?;
    *end = Some(opened.map_err(errno)?);
    let kept = flags & (ACCESS | NON_BLOCKING);
    place.flags.store(kept, Ordering::Relaxed);
    Ok(FIRST + index as c_int)
}

/// The place of an open descriptor of a channel; nothing if it is a queue's.
fn place(descriptor: c_int) -> Option<&'static Place> {
    let index = descriptor.checked_sub(FIRST)?;
    PLACES.get(usize::try_from(index).ok()?)
}

/// Whether a descriptor is a channel's.
pub(crate) fn has(descriptor: c_int) -> bool {
    place(descriptor).is_some()
}

type Limit<'a> = &'a dyn Fn() -> Result<Patience, Errno>;

/// Keeps other threads away from an end, whose operations are one thread's at a time.
fn lock(place: &'static Place, patience: Limit<'_>) -> Result<MutexGuard<Option<End>>, Errno> {
    let end = &place.end;
    end.try_lock().or_else(|_| match patience()? {
        Patience::None => Err(Errno::EAGAIN),
        Patience::Endless => end.lock().map_err(|_| Errno::EDEADLK),
        Patience::Until(deadline) => end.lock_until(deadline).map_err(|_| Errno::ETIMEDOUT),
    })
}

/// Closes a descriptor; nothing if it is a queue's.
pub(crate) fn close(descriptor: c_int) -> Option<Result<(), Errno>> {
    let place = place(descriptor)?;
    Some(lock(place, &|| Ok(Patience::Endless)).and_then(|mut end| {
        let closed = end.take().map(|_| ());
        closed.ok_or(Errno::EBADF)
    }))
}

/// Sends a message; how long it may wait follows from the flags.
pub(crate) fn send(
    descriptor: c_int,
    message: &[u8],
    priority: c_uint,
    patience: impl Fn(c_int) -> Result<Patience, Errno>,
) -> Result<(), Errno> {
    if priority >= PRIORITIES {
        return Err(Errno::EINVAL);
    }
    let place = place(descriptor).ok_or(Errno::EBADF)?;
    let patience = || patience(place.flags.load(Ordering::Relaxed));
    let mut end = lock(place, &patience)?;
    let Some(End::Sender(sender)) = &mut *end else {
        return Err(Errno::EBADF);
    };
    let sent = match sender.try_send(message) {
        Err(Error::Full) => match patience()? {
            Patience::None => Err(Error::Full),
            Patience::Endless => sender.send(message),
            Patience::Until(deadline) => sender.send_until(message, deadline),
        },
        sent => sent,
    };
    sent.map_err(errno)
}

/// Receives a message and returns its length.
pub(crate) fn receive(
    descriptor: c_int,
    buffer: &mut [u8],
    patience: impl Fn(c_int) -> Result<Patience, Errno>,
) -> Result<usize, Errno> {
    let place = place(descriptor).ok_or(Errno::EBADF)?;
    let patience = || patience(place.flags.load(Ordering::Relaxed));
    let mut end = lock(place, &patience)?;
    let Some(End::Receiver(receiver)) = &mut *end else {
        return Err(Errno::EBADF);
    };
    if buffer.len() < receiver.size() {
        return Err(Errno::EMSGSIZE);
    }
    let received = match receiver.try_read(buffer) {
        Err(Error::Empty) => match patience()? {
            Patience::None => Err(Error::Empty),
            Patience::Endless => receiver.read(buffer),
            Patience::Until(deadline) => receiver.read_until(buffer, deadline),
        },
        received => received,
    };
    received.map_err(errno)
}

/// What a descriptor is like.
pub(crate) fn describe(descriptor: c_int) -> Result<Description, Errno> {
    let place = place(descriptor).ok_or(Errno::EBADF)?;
    let end = lock(place, &|| Ok(Patience::Endless))?;
    let (most, size, count) = match &*end {
        Some(End::Sender(sender)) => (sender.slots(), sender.size(), sender.count()),
        Some(End::Receiver(receiver)) => (receiver.slots(), receiver.size(), receiver.count()),
        None => return Err(Errno::EBADF),
    };
    let flags = place.flags.load(Ordering::Relaxed) & NON_BLOCKING;
    Ok(Description {
        flags,
        most,
        size,
        count,
    })
}

/// Changes whether a descriptor blocks.
pub(crate) fn set_flags(descriptor: c_int, flags: c_int) -> Result<(), Errno> {
    let flagged = &place(descriptor).ok_or(Errno::EBADF)?.flags;
    let kept = flagged.load(Ordering::Relaxed) & ACCESS;
    flagged.store(kept | flags & NON_BLOCKING, Ordering::Relaxed);
    Ok(())
}
