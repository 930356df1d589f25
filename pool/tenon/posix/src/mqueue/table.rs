//! Tables of message queues and descriptors.
//!
//! A queue exists as long as it has a name, a descriptor or an operation in progress. Both tables
//! are protected by one lock; memory is allocated and freed outside of it.

use crate::mqueue::queue::Queue;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr;
use tenon_libc::Errno;
use tenon_pthread::signal::Notification;
use tenon_pthread::signal::event::SigEvent;
use tenon_thread::trace::{self, Kind, Name as TraceName};
use tenon_thread::wait::Guarded;

unsafe extern "C" {
    fn free(memory: *mut c_void);
}

/// Maximum length of a name without its slash: `NAME_MAX`.
pub const NAME_MAX: usize = 31;

/// `SI_MESGQ`.
const MESSAGE: c_int = 5;

/// Protects both tables.
static LOCK: Guarded<()> = Guarded::new(());

/// A name without its slash, padded with zeros.
pub(crate) type Name = [u8; NAME_MAX];

/// Slot of a queue.
pub struct Slot {
    queue: Queue,
    /// Its name, until it is unlinked.
    name: Cell<Option<Name>>,
    /// Number of descriptors and operations in progress.
    users: Cell<usize>,
    memory: Cell<*mut c_void>,
    /// Descriptor with a notification request; zero for none.
    notified: Cell<c_int>,
    event: Notification,
}

// SAFETY: the queue is `Sync`, and all other fields are accessed with `LOCK` held.
unsafe impl Sync for Slot {}

impl Slot {
    /// A free slot.
    pub const fn new() -> Self {
        Self {
            queue: Queue::new(),
            name: Cell::new(None),
            users: Cell::new(0),
            memory: Cell::new(ptr::null_mut()),
            notified: Cell::new(0),
            event: Notification::new(|_| {}),
        }
    }

    fn is_unused(&self) -> bool {
        self.name.get().is_none() && self.users.get() == 0
    }

    fn is_free(&'static self) -> bool {
        self.is_unused() && !self.event.entry().is_pending()
    }

    /// The memory to free if the queue has no users. The caller holds `LOCK`.
    fn close_if_unused(&self) -> *mut c_void {
        if !self.is_unused() {
            return ptr::null_mut();
        }
        self.queue.close();
        self.memory.replace(ptr::null_mut())
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::new()
    }
}

/// An open queue.
pub struct Descriptor {
    slot: Cell<Option<&'static Slot>>,
    flags: Cell<c_int>,
    /// Number of this use of the descriptor, which detects a stale one.
    number: Cell<u16>,
}

// SAFETY: accessed with `LOCK` held.
unsafe impl Sync for Descriptor {}

impl Descriptor {
    /// A closed descriptor.
    pub const fn new() -> Self {
        Self {
            slot: Cell::new(None),
            flags: Cell::new(0),
            number: Cell::new(0),
        }
    }
}

impl Default for Descriptor {
    fn default() -> Self {
        Self::new()
    }
}

/// Defines the tables of an image: `define_message_queues!(16, 32);`
#[macro_export]
macro_rules! define_message_queues {
    ($queues:expr, $open:expr) => {
        $crate::define_table!(
            TENON_MQUEUE_SLOTS: [$crate::mqueue::table::Slot; $queues] = $crate::mqueue::table::Slot::new()
        );
        $crate::define_table!(
            TENON_MQUEUE_DESCRIPTORS: [$crate::mqueue::Descriptor; $open] = $crate::mqueue::Descriptor::new()
        );
    };
}

tenon_libc::table! {
    /// All slots of queues.
    fn slots: Slot = TENON_MQUEUE_SLOTS
}

tenon_libc::table! {
    /// All descriptors.
    fn descriptors: Descriptor = TENON_MQUEUE_DESCRIPTORS
}

/// Number of descriptors: `MQ_OPEN_MAX`.
pub fn open_max() -> usize {
    descriptors().len()
}

/// An operation in progress on a descriptor; the queue exists until it is dropped.
pub(crate) struct Operation {
    slot: &'static Slot,
    /// The descriptor's flags.
    pub(crate) flags: c_int,
}

impl Operation {
    /// The queue.
    pub(crate) fn queue(&self) -> &'static Queue {
        &self.slot.queue
    }

    /// Sends the requested notification of a first message, once.
    pub(crate) fn notify_first(&self) {
        if LOCK.masked(|(), _| self.slot.notified.replace(0)) != 0 {
            // A former signal that is still pending stands for this one too.
            self.slot.event.notify();
        }
    }

    /// Sets or withdraws the notification request.
    pub(crate) fn notify(&self, descriptor: c_int, wanted: Option<SigEvent>) -> Result<(), Errno> {
        LOCK.masked(|(), _| {
            let notified = &self.slot.notified;
            if wanted.is_some() && notified.get() != 0 {
                return Err(Errno::EBUSY);
            }
            notified.set(wanted.map_or(0, |_| descriptor));
            if wanted.is_some() {
                self.slot.event.set(wanted, MESSAGE);
            }
            Ok(())
        })
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        remove_user(self.slot);
    }
}

/// Removes one user; an unlinked queue is removed with its last user.
fn remove_user(slot: &Slot) {
    let memory = LOCK.masked(|(), _| {
        slot.users.set(slot.users.get() - 1);
        slot.close_if_unused()
    });
    // SAFETY: the memory is from `malloc` and the queue has no users; `free` accepts null.
    unsafe { free(memory) };
}

/// The open descriptor of a number.
fn descriptor(number: c_int) -> Result<&'static Descriptor, Errno> {
    let index = usize::try_from(number & 0xffff).map_err(|_| Errno::EBADF)?;
    let descriptor = descriptors().get(index).ok_or(Errno::EBADF)?;
    let same = c_int::from(descriptor.number.get()) == number >> 16;
    let open = descriptor.slot.get().is_some();
    (same && open).then_some(descriptor).ok_or(Errno::EBADF)
}

/// Begins an operation on a descriptor.
pub(crate) fn enter(number: c_int) -> Result<Operation, Errno> {
    LOCK.masked(|(), _| {
        let descriptor = descriptor(number)?;
        let slot = descriptor.slot.get().ok_or(Errno::EBADF)?;
        slot.users.set(slot.users.get() + 1);
        Ok(Operation {
            slot,
            flags: descriptor.flags.get(),
        })
    })
}

/// Changes the flags of a descriptor.
pub(crate) fn set_flags(number: c_int, flags: c_int) -> Result<(), Errno> {
    LOCK.masked(|(), _| descriptor(number).map(|descriptor| descriptor.flags.set(flags)))
}

/// Closes a descriptor.
pub(crate) fn close(number: c_int) -> Result<(), Errno> {
    let slot = LOCK.masked(|(), _| {
        let slot = descriptor(number)?.slot.take().ok_or(Errno::EBADF)?;
        if slot.notified.get() == number {
            slot.notified.set(0);
        }
        Ok(slot)
    })?;
    remove_user(slot);
    Ok(())
}

/// Unlinks the name of a queue.
pub(crate) fn unlink(name: &Name) -> Result<(), Errno> {
    let memory = LOCK.masked(|(), _| {
        let slot = find(name).ok_or(Errno::ENOENT)?;
        slot.name.set(None);
        Ok(slot.close_if_unused())
    })?;
    // SAFETY: the memory is from `malloc` and the queue has no users; `free` accepts null.
    unsafe { free(memory) };
    Ok(())
}

/// The queue of a name. The caller holds `LOCK`.
fn find(name: &Name) -> Option<&'static Slot> {
    slots().iter().find(|slot| slot.name.get() == Some(*name))
}

/// Parameters of a queue to create.
pub(crate) struct QueueSpec {
    /// Number of messages, their size, and the room that each takes.
    pub(crate) capacity: usize,
    pub(crate) size: usize,
    pub(crate) room: usize,
    /// Memory for the messages, from `malloc`.
    pub(crate) memory: ptr::NonNull<c_void>,
}

/// Result of opening a queue.
pub(crate) enum Opened {
    /// A descriptor of an existing queue.
    Existing(c_int),
    /// A descriptor of a queue that was created.
    Created(c_int),
}

/// Opens the queue of a name: an existing one unless `exclusive`, or else one created from `spec`.
pub(crate) fn open(
    name: &Name,
    flags: c_int,
    exclusive: bool,
    spec: Option<&QueueSpec>,
) -> Result<Opened, Errno> {
    LOCK.masked(|(), _| {
        let there = find(name);
        if exclusive && there.is_some() {
            return Err(Errno::EEXIST);
        }
        let slot = match (there, spec) {
            (Some(slot), _) => slot,
            (None, None) => return Err(Errno::ENOENT),
            (None, Some(_)) => slots()
                .iter()
                .find(|slot| slot.is_free())
                .ok_or(Errno::ENFILE)?,
        };
        let (index, descriptor) = descriptors()
            .iter()
            .enumerate()
            .find(|(_, descriptor)| descriptor.slot.get().is_none())
            .ok_or(Errno::EMFILE)?;
        descriptor.slot.set(Some(slot));
        descriptor.flags.set(flags);
        // Numbers start at one: descriptor zero stands for none in `notified`.
        let next = (descriptor.number.get().wrapping_add(1) & 0x7fff).max(1);
        descriptor.number.set(next);
        slot.users.set(slot.users.get() + 1);
        let number = c_int::from(next) << 16 | index as c_int;
        match spec {
            Some(spec) if there.is_none() => {
                slot.name.set(Some(*name));
                slot.memory.set(spec.memory.as_ptr());
                // SAFETY: the slot was free; the spec's memory has room for all messages, is
                // aligned by `malloc`, and is freed only after the queue is closed.
                unsafe {
                    slot.queue
                        .open(spec.memory.cast(), spec.capacity, spec.size, spec.room);
                }
                trace::describe(&slot.queue, Kind::MessageQueue, TraceName::Path(name));
                Ok(Opened::Created(number))
            }
            _ => Ok(Opened::Existing(number)),
        }
    })
}
