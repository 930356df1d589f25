//! Thread creation (POSIX.1-2017, `pthread_create`).

use crate::attributes::{self, Attributes};
use crate::exit::exit_thread;
use crate::policy;
use crate::stack::Memory;
use crate::table::{self, LOCK, Slot, SlotState, ThreadId, current};
use core::ffi::{c_int, c_void};
use core::ptr;
use tenon_libc::errno::number;
use tenon_libc::{Errno, tls};
use tenon_thread::thread::Priority;
use tenon_thread::trace::Name;

/// Start routine of a thread.
type Start = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// What a new thread needs to start.
struct StartRecord {
    slot: &'static Slot,
    start: Start,
    argument: *mut c_void,
    /// End of the thread's memory; the thread-local storage block lies below it.
    top: usize,
}

// SAFETY: the record is moved to the new thread; the program passes the argument for its use there.
unsafe impl Send for StartRecord {}

impl StartRecord {
    fn run(self) {
        // SAFETY: `Memory` reserves room for the block below `top`; the program passes the start
        // routine with its argument.
        unsafe {
            tls::install(tls::make(self.top, ptr::from_ref(self.slot).cast()));
            exit_thread((self.start)(self.argument))
        }
    }
}

/// Creates a thread.
///
/// # Safety
///
/// `name` is valid for a write; `attributes` is null or points to a `pthread_attr_t`; `start`
/// accepts `argument`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_create(
    name: *mut ThreadId,
    attributes: *const Attributes,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the caller of this function ensures what `create` requires, which is the same.
    number(unsafe { create(name, attributes, start, argument) })
}

unsafe fn create(
    name: *mut ThreadId,
    attributes: *const Attributes,
    start: Start,
    argument: *mut c_void,
) -> Result<(), Errno> {
    let attributes = if attributes.is_null() {
        Attributes::default()
    } else {
        // SAFETY: `attributes` is null or points to attributes, as the caller ensures.
        *unsafe { attributes::checked(attributes) }?
    };
    let (policy, priority) = scheduled(&attributes)?;
    reclaim_detached();
    let memory = Memory::of(&attributes)?;
    let Some(slot) = claim(&attributes) else {
        // SAFETY: the thread was not created, so that nothing uses the memory.
        unsafe { memory.release() };
        return Err(Errno::EAGAIN);
    };
    slot.memory.set(Some(memory));
    slot.policy.set(policy);
    // For a debugger, which names the thread by it.
    slot.result.set(start as *mut c_void);
    let beginning = StartRecord {
        slot,
        start,
        argument,
        top: memory.top,
    };
    // The thread can be found by its ID from here on, before it starts.
    LOCK.masked(|(), _| slot.thread.set(Some(slot.block.thread())));
    slot.describe(Name::Symbol(start as *const () as usize));
    let scheduled = (priority, policy::is_time_sliced(policy));
    // SAFETY: `name` is valid for a write, and the thread may read it as soon as it runs; the stack
    // is new, or the program reserves it for the thread.
    let made = unsafe {
        name.write(slot.id());
        slot.block
            .spawn(memory.layout(), "pthread", scheduled, move || {
                beginning.run()
            })
    };
    if made.is_err() {
        // The stack is too small for the kernel's initial frame.
        LOCK.masked(|(), _| {
            slot.thread.set(None);
            slot.state.set(SlotState::Free);
        });
        // SAFETY: the thread was not created, so that nothing uses the memory.
        unsafe { memory.release() };
        return Err(Errno::EINVAL);
    }
    Ok(())
}

/// Policy and priority of a new thread: inherited unless the attributes are explicit.
fn scheduled(attributes: &Attributes) -> Result<(u8, Priority), Errno> {
    if attributes.explicit {
        let (policy, priority) = (attributes.policy, attributes.priority);
        Ok((policy, policy::priority(policy, priority)?))
    } else {
        let maker = current();
        let priority = maker.thread().map_or(Priority::LOWEST, |t| t.priority());
        Ok((maker.policy.get(), priority))
    }
}

/// Claims a free slot.
fn claim(attributes: &Attributes) -> Option<&'static Slot> {
    LOCK.masked(|(), _| {
        let free = |slot: &&Slot| slot.state.get() == SlotState::Free && slot.block.is_free();
        let slot = table::slots().iter().find(free)?;
        let state = if attributes.detached {
            SlotState::Detached
        } else {
            SlotState::Joinable
        };
        slot.claim(state, current().signals.blocked.get());
        Some(slot)
    })
}

/// Frees the stacks of detached threads that have ended: a thread cannot free the stack it runs on.
fn reclaim_detached() {
    for slot in table::slots() {
        let memory = LOCK.masked(|(), _| {
            let reclaimable = slot.state.get() == SlotState::Reclaimable;
            reclaimable.then(|| {
                slot.state.set(SlotState::Free);
                slot.memory.take()
            })
        });
        if let Some(memory) = memory.flatten() {
            // SAFETY: the slot was reclaimable, so that its thread has ended.
            unsafe { memory.release() };
        }
    }
}
