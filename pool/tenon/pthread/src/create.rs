//! The beginning of a thread.

use crate::attributes::{self, Attributes};
use crate::exit::end;
use crate::policy;
use crate::stack::Memory;
use crate::table::{self, LOCK, Life, Name, Slot, current};
use core::ffi::{c_int, c_void};
use core::ptr;
use tenon_libc::errno::number;
use tenon_libc::{Errno, tls};
use tenon_thread::thread::Priority;

/// A thread's first function.
type Start = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// What a thread begins with.
struct Beginning {
    slot: &'static Slot,
    start: Start,
    argument: *mut c_void,
    /// The end of its memory, where its block of variables goes.
    top: usize,
}

// SAFETY: the argument goes from the thread that makes it to the one that is made.
unsafe impl Send for Beginning {}

impl Beginning {
    fn run(self) {
        // SAFETY: the room below `top` was left for it; the function and its argument are the
        // program's.
        unsafe {
            tls::install(tls::make(self.top, ptr::from_ref(self.slot).cast()));
            end((self.start)(self.argument))
        }
    }
}

/// Makes a thread.
///
/// # Safety
///
/// There is a place for its name; the attributes are null or a `pthread_attr_t`; the function takes
/// the argument.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_create(
    name: *mut Name,
    attributes: *const Attributes,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the caller's contract.
    number(unsafe { create(name, attributes, start, argument) })
}

unsafe fn create(
    name: *mut Name,
    attributes: *const Attributes,
    start: Start,
    argument: *mut c_void,
) -> Result<(), Errno> {
    let attributes = if attributes.is_null() {
        Attributes::default()
    } else {
        // SAFETY: the caller's contract.
        *unsafe { attributes::made(attributes) }?
    };
    let (policy, priority) = scheduled(&attributes)?;
    forget_the_forgotten();
    let memory = Memory::of(&attributes)?;
    let Some(slot) = claim(&attributes) else {
        // SAFETY: there is no thread.
        unsafe { memory.give_back() };
        return Err(Errno::EAGAIN);
    };
    slot.memory.set(Some(memory));
    slot.policy.set(policy);
    let beginning = Beginning {
        slot,
        start,
        argument,
        top: memory.top,
    };
    // Others may know it from now on, though it has not begun.
    LOCK.masked(|(), _| slot.thread.set(Some(slot.block.thread())));
    let scheduled = (priority, policy::takes_turns(policy));
    // SAFETY: the caller says there is a place, which the thread may read as soon as it runs; the
    // stack is new or the program's, who keeps it for the thread.
    let made = unsafe {
        name.write(slot.name());
        slot.block
            .spawn(memory.ground(), "pthread", scheduled, move || {
                beginning.run()
            })
    };
    if made.is_err() {
        // The stack is too small for the little the kernel lays on it.
        LOCK.masked(|(), _| {
            slot.thread.set(None);
            slot.life.set(Life::None);
        });
        // SAFETY: there is no thread.
        unsafe { memory.give_back() };
        return Err(Errno::EINVAL);
    }
    Ok(())
}

/// Policy and priority of the thread to come: its maker's, unless they are given.
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

/// A slot without a thread, taken for one.
fn claim(attributes: &Attributes) -> Option<&'static Slot> {
    LOCK.masked(|(), _| {
        let free = |slot: &&Slot| slot.life.get() == Life::None && slot.block.is_free();
        let slot = table::slots().iter().find(free)?;
        let life = if attributes.detached {
            Life::Detached
        } else {
            Life::Joinable
        };
        slot.claim(life, current().signals.blocked.get());
        Some(slot)
    })
}

/// Frees the stacks of threads that ended detached: they could not do so themselves.
fn forget_the_forgotten() {
    for slot in table::slots() {
        let memory = LOCK.masked(|(), _| {
            let forgotten = slot.life.get() == Life::Forgotten;
            forgotten.then(|| {
                slot.life.set(Life::None);
                slot.memory.take()
            })
        });
        if let Some(memory) = memory.flatten() {
            // SAFETY: its thread has ended.
            unsafe { memory.give_back() };
        }
    }
}
