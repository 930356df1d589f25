//! Creation of threads, and control blocks for stacks allocated at run time.

use super::entry::run;
use super::{Error, StackLayout, Thread};
use core_sched::Priority;
use tenon_kernel::kernel::Kernel;
use tenon_kernel::thread::{Thread as ThreadState, above_idle};
use tenon_machine::{address_space, assertions, context, options};
use tenon_map::PAGE;

/// Writes `body` and a first context to a stack, so that the thread can be woken.
///
/// # Safety
///
/// The stack is writable, aligned to 16 bytes, and used by no other code until this thread has
/// ended.
pub(super) unsafe fn prepare<F: FnOnce() + Send + 'static>(
    thread: &'static ThreadState,
    kernel: &Kernel,
    stack: StackLayout,
    name: &'static str,
    priority: Priority,
    body: F,
) -> Result<&'static ThreadState, Error> {
    const { assert!(align_of::<F>() <= 16, "a stack aligns to 16 bytes") };
    let room = size_of::<F>().next_multiple_of(16);
    let run = run::<F> as *const () as usize;
    // SAFETY: the stack is writable, aligned, and used by no other code.
    let place = unsafe { init(thread, kernel, stack, (name, priority), (room, run)) }?;
    // SAFETY: `init` left `room` bytes there above the context, aligned to 16 bytes.
    unsafe { (place as *mut F).write(body) };
    Ok(thread)
}

/// The part of [`prepare`] that does not depend on the type of the body: claims the control block
/// and writes a first context of `run` below `room` bytes for the body. Returns the address of the
/// body.
///
/// # Safety
///
/// The stack is writable, aligned to 16 bytes, and used by no other code until the thread has ended.
#[inline(never)]
unsafe fn init(
    thread: &'static ThreadState,
    kernel: &Kernel,
    stack: StackLayout,
    name: (&'static str, Priority),
    (room, run): (usize, usize),
) -> Result<usize, Error> {
    let canary = if options::assertions() {
        assertions::CANARY_SIZE
    } else {
        0
    };
    if room + context::size() + canary > stack.size {
        return Err(Error::StackTooSmall);
    }
    if !thread.claim() {
        return Err(Error::InUse);
    }
    let start = stack.start as usize;
    if stack.guarded {
        address_space::guard(start - PAGE);
    }
    // SAFETY: the stack is aligned, and no thread runs on it yet.
    unsafe { assertions::write_canary(start) };
    let place = start + stack.size - room;
    // SAFETY: the context lies within the stack, on which no thread runs; `place` is a multiple of
    // 16 as the stack and `room` are.
    let context = unsafe { context::write_first(place, run, place) };
    // SAFETY: the control block is claimed, and the stack has a canary and the context.
    unsafe { thread.begin(kernel, (start, context), name) };
    Ok(place)
}

/// The control block of one thread, for libraries that allocate stacks at run time.
pub struct Block(pub(super) ThreadState);

impl Block {
    /// A block without a thread.
    pub const fn new() -> Self {
        Self(ThreadState::new())
    }

    /// The thread in it, also before it starts.
    pub fn thread(&'static self) -> &'static Thread {
        Thread::of(&self.0)
    }

    /// Whether there is no thread in it: none has started, or it has ended.
    pub fn is_free(&self) -> bool {
        Kernel::with_irqs_masked(|_| self.0.has_ended())
    }

    /// As [`Storage::spawn`](crate::thread::Storage::spawn), on a given stack. The thread is sliced
    /// from its start if `slicing`, as by [`set_slicing`](Thread::set_slicing).
    ///
    /// # Safety
    ///
    /// The stack is as described, and used by no other code until the block is free again.
    pub unsafe fn spawn<F: FnOnce() + Send + 'static>(
        &'static self,
        stack: StackLayout,
        name: &'static str,
        (priority, slicing): (Priority, bool),
        body: F,
    ) -> Result<&'static Thread, Error> {
        Kernel::with_reschedule(|kernel| {
            let priority = above_idle(priority);
            // SAFETY: the stack is as described, and used by no other code until the block is free.
            let thread = unsafe { prepare(&self.0, kernel, stack, name, priority, body) }?;
            // Users of this can interrupt a wait, which only the home core can do: pin the thread.
            thread.smp().init(kernel.index(), true);
            thread.time_slice().enable(slicing);
            thread.wake(kernel);
            Ok(Thread::of(thread))
        })
    }
}

impl Default for Block {
    fn default() -> Self {
        Self::new()
    }
}
