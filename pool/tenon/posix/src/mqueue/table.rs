//! Queues by name, descriptors by number.
//!
//! A queue lives as long as it has a name, a descriptor or an operation under way. All of it is
//! behind one lock; what allocates is done outside.

use crate::mqueue::queue::Queue;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr;
use tenon_libc::Errno;
use tenon_pthread::signal::Event;
use tenon_pthread::signal::event::Wanted;
use tenon_thread::wait::Guarded;

unsafe extern "C" {
    fn free(memory: *mut c_void);
}

/// The longest name, without its slash: `NAME_MAX`.
pub const NAME_MAX: usize = 31;

/// `SI_MESGQ`.
const MESSAGE: c_int = 5;

/// Queues and descriptors are known behind this.
static LOCK: Guarded<()> = Guarded::new(());

/// A name: what follows the slash. A shorter one ends with zeros.
pub(crate) type Name = [u8; NAME_MAX];

/// The place of a queue.
pub struct Slot {
    queue: Queue,
    /// Its name, until it is unlinked.
    name: Cell<Option<Name>>,
    /// Descriptors and operations under way; it is being made or used if there are any.
    users: Cell<usize>,
    memory: Cell<*mut c_void>,
    /// The descriptor by which somebody wants to be told of the first message, or zero.
    notified: Cell<c_int>,
    event: Event,
}

// SAFETY: all but the queue, which is shared, is touched behind `LOCK`.
unsafe impl Sync for Slot {}

impl Slot {
    /// A place without a queue.
    pub const fn new() -> Self {
        Self {
            queue: Queue::new(),
            name: Cell::new(None),
            users: Cell::new(0),
            memory: Cell::new(ptr::null_mut()),
            notified: Cell::new(0),
            event: Event::new(|_| {}),
        }
    }

    fn is_unused(&self) -> bool {
        self.name.get().is_none() && self.users.get() == 0
    }

    fn is_free(&'static self) -> bool {
        self.is_unused() && !self.event.entry().is_pending()
    }

    /// The memory to be freed if nobody uses the queue any more. To be called behind `LOCK`.
    fn end_if_unused(&self) -> *mut c_void {
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
    /// Which of its uses it is, so that a stale number is known as such.
    number: Cell<u16>,
}

// SAFETY: touched behind `LOCK`.
unsafe impl Sync for Descriptor {}

impl Descriptor {
    /// One that is not open.
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
    /// All places of queues.
    fn slots: Slot = TENON_MQUEUE_SLOTS
}

tenon_libc::table! {
    /// All descriptors.
    fn descriptors: Descriptor = TENON_MQUEUE_DESCRIPTORS
}

/// How many descriptors there can be: `MQ_OPEN_MAX`.
pub fn open_max() -> usize {
    descriptors().len()
}

/// What an operation finds of a descriptor; the queue lives until it is done with it.
pub(crate) struct Use {
    slot: &'static Slot,
    /// The descriptor's flags.
    pub(crate) flags: c_int,
}

impl Use {
    /// The queue.
    pub(crate) fn queue(&self) -> &'static Queue {
        &self.slot.queue
    }

    /// The first message has come: tells who wanted to know, once.
    pub(crate) fn tell(&self) {
        if LOCK.masked(|(), _| self.slot.notified.replace(0)) != 0 {
            // A signal of before that nobody took stands for this one, too.
            self.slot.event.happen();
        }
    }

    /// Has somebody told of the next first message, or the one who wanted to be not.
    pub(crate) fn notify(&self, descriptor: c_int, wanted: Option<Wanted>) -> Result<(), Errno> {
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

impl Drop for Use {
    fn drop(&mut self) {
        leave(self.slot);
    }
}

/// One user less; the last one of a queue without a name takes it along.
fn leave(slot: &Slot) {
    let memory = LOCK.masked(|(), _| {
        slot.users.set(slot.users.get() - 1);
        slot.end_if_unused()
    });
    // SAFETY: it came from `malloc`, and nobody uses it any more; null may be freed.
    unsafe { free(memory) };
}

/// The descriptor of that number.
fn descriptor(number: c_int) -> Result<&'static Descriptor, Errno> {
    let index = usize::try_from(number & 0xffff).map_err(|_| Errno::EBADF)?;
    let descriptor = descriptors().get(index).ok_or(Errno::EBADF)?;
    let same = c_int::from(descriptor.number.get()) == number >> 16;
    let open = descriptor.slot.get().is_some();
    (same && open).then_some(descriptor).ok_or(Errno::EBADF)
}

/// Begins an operation on a descriptor.
pub(crate) fn enter(number: c_int) -> Result<Use, Errno> {
    LOCK.masked(|(), _| {
        let descriptor = descriptor(number)?;
        let slot = descriptor.slot.get().ok_or(Errno::EBADF)?;
        slot.users.set(slot.users.get() + 1);
        Ok(Use {
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
    leave(slot);
    Ok(())
}

/// Takes a queue's name from it; it ends with its last descriptor.
pub(crate) fn unlink(name: &Name) -> Result<(), Errno> {
    let memory = LOCK.masked(|(), _| {
        let slot = find(name).ok_or(Errno::ENOENT)?;
        slot.name.set(None);
        Ok(slot.end_if_unused())
    })?;
    // SAFETY: as in `leave`.
    unsafe { free(memory) };
    Ok(())
}

/// The queue of that name. To be called behind `LOCK`.
fn find(name: &Name) -> Option<&'static Slot> {
    slots().iter().find(|slot| slot.name.get() == Some(*name))
}

/// A queue to be made.
pub(crate) struct Plan {
    /// How many messages, of how many bytes, taking how much room.
    pub(crate) most: usize,
    pub(crate) size: usize,
    pub(crate) room: usize,
    /// Memory for them from `malloc`.
    pub(crate) memory: ptr::NonNull<c_void>,
}

/// What came of an attempt to open a queue.
pub(crate) enum Opened {
    /// A new descriptor of a queue that was there.
    Old(c_int),
    /// A new descriptor of a queue that was made as planned.
    New(c_int),
}

/// Opens the queue of that name: one that is there unless `exclusive`, or else one as planned, if
/// there is a plan.
pub(crate) fn open(
    name: &Name,
    flags: c_int,
    exclusive: bool,
    plan: Option<&Plan>,
) -> Result<Opened, Errno> {
    LOCK.masked(|(), _| {
        let there = find(name);
        if exclusive && there.is_some() {
            return Err(Errno::EEXIST);
        }
        let slot = match (there, plan) {
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
        // From one on, so that no descriptor is zero, which `notified` has for nobody.
        let next = (descriptor.number.get().wrapping_add(1) & 0x7fff).max(1);
        descriptor.number.set(next);
        slot.users.set(slot.users.get() + 1);
        let number = c_int::from(next) << 16 | index as c_int;
        match plan {
            Some(plan) if there.is_none() => {
                slot.name.set(Some(*name));
                slot.memory.set(plan.memory.as_ptr());
                // SAFETY: the place was free; the plan's memory has room for them all, is aligned by
                // `malloc` and freed after the queue's end only.
                unsafe {
                    slot.queue
                        .open(plan.memory.cast(), plan.most, plan.size, plan.room);
                }
                Ok(Opened::New(number))
            }
            _ => Ok(Opened::Old(number)),
        }
    })
}
