//! Threads on stacks from somewhere else.

use super::storage::StackLayout;
use super::{Error, Priority, Thread, Wait, above_idle, run};
use crate::assembly;
use crate::assertions;
use crate::kernel::Kernel;
use crate::options;
use crate::space;
use crate::timer::Action;
use crate::trace;
use crate::wait::PI_CHAIN_LOCK;
use tenon_map::PAGE;

impl Thread {
    /// Puts `body` and a first context on a stack, so that the thread could be woken.
    ///
    /// # Safety
    ///
    /// The stack is writable, aligned to 16 bytes, and this thread's alone until it has ended.
    pub(super) unsafe fn prepare<F: FnOnce() + Send + 'static>(
        &'static self,
        kernel: &Kernel,
        ground: StackLayout,
        name: &'static str,
        priority: Priority,
        body: F,
    ) -> Result<&'static Self, Error> {
        const { assert!(align_of::<F>() <= 16, "a stack aligns to 16 bytes") };
        let room = size_of::<F>().next_multiple_of(16);
        let run = run::<F> as *const () as usize;
        // SAFETY: the caller's contract.
        let place = unsafe { self.lay(kernel, ground, (name, priority), (room, run)) }?;
        // SAFETY: there is room for it, above the context, aligned to 16 bytes as the stack is.
        unsafe { (place as *mut F).write(body) };
        Ok(self)
    }

    /// What does not depend on the body: takes the thread, and lays a first context that runs it
    /// under `room` for it, whose address this returns.
    ///
    /// # Safety
    ///
    /// As for [`prepare`](Thread::prepare).
    #[inline(never)]
    unsafe fn lay(
        &'static self,
        kernel: &Kernel,
        ground: StackLayout,
        (name, priority): (&'static str, Priority),
        (room, run): (usize, usize),
    ) -> Result<usize, Error> {
        let canary = if options::assertions() {
            assertions::ROOM
        } else {
            0
        };
        if room + assembly::context_size() + canary > ground.size {
            return Err(Error::StackTooSmall);
        }
        if !self.claim() {
            return Err(Error::InUse);
        }
        let start = ground.start as usize;
        if ground.guarded {
            space::guard(start - PAGE);
        }
        self.stack.set(start);
        // SAFETY: the stack is this thread's alone.
        unsafe { assertions::mark(start) };
        let place = start + ground.size - room;
        // SAFETY: it lies within the stack, which no thread uses, and is aligned to 16 bytes as that
        // is.
        let context = unsafe { assembly::lay_first_context(place, run, place) };
        self.stack_pointer.set(context);
        self.pointer.set(0);
        self.name.set(Some(name));
        trace::record_name(kernel, self);
        self.token.set(false);
        self.turn.begin();
        self.timer.set_action(Action::Wake(self));
        self.state.begin(kernel.cooperative.get());
        PI_CHAIN_LOCK.locked(|| {
            self.number.set(kernel.number());
            self.priority.set(priority);
        });
        self.smp.settle(kernel.index(), false);
        self.smp.set_priority(priority);
        kernel.scheduler.set_priority(self, priority);
        self.wait_reason.set(Wait::None);
        Ok(place)
    }

    /// Whether there is no thread in this control block: it has not begun or has ended.
    pub(super) fn has_ended(&self) -> bool {
        if options::cores() > 1 {
            return !self.smp.is_claimed();
        }
        self.wait_reason.get() == Wait::Dormant
    }

    /// Takes it for a thread to come; returns whether it was to be had.
    fn claim(&self) -> bool {
        if options::cores() > 1 {
            return self.smp.claim();
        }
        self.has_ended()
    }
}

impl StackLayout {
    /// Makes the page below a guarded stack memory again.
    ///
    /// # Safety
    ///
    /// No thread is on it.
    pub unsafe fn release(&self) {
        if self.guarded {
            space::unguard(self.start as usize - PAGE);
        }
    }
}

/// The control block of one thread, for libraries that get stacks at run time.
pub struct Block(pub(super) Thread);

impl Block {
    /// A block without a thread.
    pub const fn new() -> Self {
        Self(Thread::new())
    }

    /// The thread in it, also before it begins.
    pub fn thread(&'static self) -> &'static Thread {
        &self.0
    }

    /// Whether there is no thread in it: none has begun, or it has ended.
    pub fn is_free(&self) -> bool {
        Kernel::with_irqs_masked(|_| self.0.has_ended())
    }

    /// As [`Storage::spawn`](crate::thread::Storage::spawn), on a stack from somewhere else; whether
    /// it takes turns with its peers, by [`set_slicing`](Thread::set_slicing), holds from its
    /// beginning on.
    ///
    /// # Safety
    ///
    /// The stack is as it says, and nobody else's until the block is free again.
    pub unsafe fn spawn<F: FnOnce() + Send + 'static>(
        &'static self,
        ground: StackLayout,
        name: &'static str,
        (priority, slicing): (Priority, bool),
        body: F,
    ) -> Result<&'static Thread, Error> {
        Kernel::with_reschedule(|kernel| {
            let priority = above_idle(priority);
            // SAFETY: the caller's contract.
            let thread = unsafe { self.0.prepare(kernel, ground, name, priority, body) }?;
            // Whoever uses this may cut a wait short, which only its own core can.
            thread.smp.settle(kernel.index(), true);
            thread.time_slice().take(slicing);
            thread.wake(kernel);
            Ok(thread)
        })
    }
}

impl Default for Block {
    fn default() -> Self {
        Self::new()
    }
}
