//! Channels to other VMs, as message queues.
//!
//! `mq_open("/telemetry", O_WRONLY)` opens this VM's end of the channel `telemetry` if the system
//! declares one. Messages have no priorities and arrive in order; `EPIPE` reports once that the
//! peer is gone. A thread that waits for the peer is neither cancelled nor interrupted by signals.

use crate::mqueue::flags::{ACCESS, CREATE, EXCLUSIVE, NON_BLOCKING, READ_ONLY, WRITE_ONLY};
use crate::mqueue::queue::Blocking;
use crate::mqueue::store::PRIORITIES;
use crate::mqueue::table::Name;
use core::ffi::{c_int, c_uint};
use core::sync::atomic::{AtomicI32, Ordering};
use tenon_channel::{Error, Receiver, Sender};
use tenon_libc::Errno;
use tenon_sync::{Mutex, MutexGuard};
use tenon_thread::environment::{self, ENDS};

/// The first descriptor of a channel, above all descriptors of queues.
const FIRST: c_int = 0x7fff_ff00;

/// This VM's end of a channel.
enum End {
    Sender(Sender),
    Receiver(Receiver),
}

/// Slot of an open end.
struct EndSlot {
    end: Mutex<Option<End>>,
    flags: AtomicI32,
}

static END_SLOTS: [EndSlot; ENDS] = [const {
    EndSlot {
        end: Mutex::new(None),
        flags: AtomicI32::new(0),
    }
}; ENDS];

/// Attributes of a channel's descriptor.
pub struct Description {
    /// Its flags.
    pub flags: c_int,
    /// Capacity in messages.
    pub capacity: usize,
    /// Maximum size of a message.
    pub size: usize,
    /// Messages that are queued.
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

/// Opens the end of this name, which can be open once; `None` if there is no such channel.
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
    let place = END_SLOTS.get(index).ok_or(Errno::EINVAL)?;
    let opened = match flags & ACCESS {
        WRITE_ONLY => Sender::open(name).map(End::Sender),
        READ_ONLY => Receiver::open(name).map(End::Receiver),
        _ => return Err(Errno::EACCES),
    };
    let mut end = lock(place, &|| Ok(Blocking::Forever))?;
    *end = Some(opened.map_err(errno)?);
    let kept = flags & (ACCESS | NON_BLOCKING);
    place.flags.store(kept, Ordering::Relaxed);
    Ok(FIRST + index as c_int)
}

/// The slot of a channel's open descriptor; `None` for a queue's.
fn place(descriptor: c_int) -> Option<&'static EndSlot> {
    let index = descriptor.checked_sub(FIRST)?;
    END_SLOTS.get(usize::try_from(index).ok()?)
}

/// Whether a descriptor is a channel's.
pub(crate) fn is_channel(descriptor: c_int) -> bool {
    place(descriptor).is_some()
}

type Timeout<'a> = &'a dyn Fn() -> Result<Blocking, Errno>;

/// Locks an end: one thread at a time operates on it.
fn lock(place: &'static EndSlot, blocking: Timeout<'_>) -> Result<MutexGuard<Option<End>>, Errno> {
    let end = &place.end;
    end.try_lock().or_else(|_| match blocking()? {
        Blocking::Never => Err(Errno::EAGAIN),
        Blocking::Forever => end.lock().map_err(|_| Errno::EDEADLK),
        Blocking::Until(deadline) => end.lock_until(deadline).map_err(|_| Errno::ETIMEDOUT),
    })
}

/// Closes a descriptor; `None` for a queue's.
pub(crate) fn close(descriptor: c_int) -> Option<Result<(), Errno>> {
    let place = place(descriptor)?;
    Some(lock(place, &|| Ok(Blocking::Forever)).and_then(|mut end| {
        let closed = end.take().map(|_| ());
        closed.ok_or(Errno::EBADF)
    }))
}

/// Sends a message; the blocking mode follows from the flags.
pub(crate) fn send(
    descriptor: c_int,
    message: &[u8],
    priority: c_uint,
    blocking: impl Fn(c_int) -> Result<Blocking, Errno>,
) -> Result<(), Errno> {
    if priority >= PRIORITIES {
        return Err(Errno::EINVAL);
    }
    let place = place(descriptor).ok_or(Errno::EBADF)?;
    let blocking = || blocking(place.flags.load(Ordering::Relaxed));
    let mut end = lock(place, &blocking)?;
    let Some(End::Sender(sender)) = &mut *end else {
        return Err(Errno::EBADF);
    };
    let sent = match sender.try_send(message) {
        Err(Error::Full) => match blocking()? {
            Blocking::Never => Err(Error::Full),
            Blocking::Forever => sender.send(message),
            Blocking::Until(deadline) => sender.send_until(message, deadline),
        },
        sent => sent,
    };
    sent.map_err(errno)
}

/// Receives a message and returns its length.
pub(crate) fn receive(
    descriptor: c_int,
    buffer: &mut [u8],
    blocking: impl Fn(c_int) -> Result<Blocking, Errno>,
) -> Result<usize, Errno> {
    let place = place(descriptor).ok_or(Errno::EBADF)?;
    let blocking = || blocking(place.flags.load(Ordering::Relaxed));
    let mut end = lock(place, &blocking)?;
    let Some(End::Receiver(receiver)) = &mut *end else {
        return Err(Errno::EBADF);
    };
    if buffer.len() < receiver.size() {
        return Err(Errno::EMSGSIZE);
    }
    let received = match receiver.try_read(buffer) {
        Err(Error::Empty) => match blocking()? {
            Blocking::Never => Err(Error::Empty),
            Blocking::Forever => receiver.read(buffer),
            Blocking::Until(deadline) => receiver.read_until(buffer, deadline),
        },
        received => received,
    };
    received.map_err(errno)
}

/// Attributes of a descriptor.
pub(crate) fn describe(descriptor: c_int) -> Result<Description, Errno> {
    let place = place(descriptor).ok_or(Errno::EBADF)?;
    let end = lock(place, &|| Ok(Blocking::Forever))?;
    let (capacity, size, count) = match &*end {
        Some(End::Sender(sender)) => (sender.slots(), sender.size(), sender.count()),
        Some(End::Receiver(receiver)) => (receiver.slots(), receiver.size(), receiver.count()),
        None => return Err(Errno::EBADF),
    };
    let flags = place.flags.load(Ordering::Relaxed) & NON_BLOCKING;
    Ok(Description {
        flags,
        capacity,
        size,
        count,
    })
}

/// Changes the blocking mode of a descriptor.
pub(crate) fn set_flags(descriptor: c_int, flags: c_int) -> Result<(), Errno> {
    let flagged = &place(descriptor).ok_or(Errno::EBADF)?.flags;
    let kept = flagged.load(Ordering::Relaxed) & ACCESS;
    flagged.store(kept | flags & NON_BLOCKING, Ordering::Relaxed);
    Ok(())
}
