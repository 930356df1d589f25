//! Start of a thread.

use super::{Thread, Wait};
use crate::kernel::{Kernel, trace};
use crate::time::Action;
use core_sched::Priority;
use tenon_machine::object_lock::PI_CHAIN_LOCK;
use tenon_machine::options;

/// The idle thread alone has priority 0: other threads have at least 1.
#[inline]
pub fn above_idle(priority: Priority) -> Priority {
    priority.max(Priority::new(1))
}

impl Thread {
    /// Makes it a new thread, to be woken, with a stack and the address of its first context.
    ///
    /// # Safety
    ///
    /// The control block was [claimed](Thread::claim). The context lies on the stack, which no other
    /// code uses until the thread has ended, and has a canary.
    pub unsafe fn begin(
        &'static self,
        kernel: &Kernel,
        (stack, context): (usize, usize),
        (name, priority): (&'static str, Priority),
    ) {
        self.stack.set(stack);
        self.stack_pointer.set(context);
        self.pointer.set(0);
        self.name.set(Some(name));
        trace::record_name(kernel, self);
        self.unpark_token.set(false);
        self.time_slice.init();
        self.timer.set_action(Action::Wake(self));
        self.state.begin(kernel.cooperative.get());
        PI_CHAIN_LOCK.locked(|| {
            self.id.set(kernel.allocate_thread_id());
            self.priority.set(priority);
        });
        self.smp.init(kernel.index(), false);
        self.smp.set_priority(priority);
        kernel.scheduler.set_priority(self, priority);
        kernel.record_priorities(self);
        self.wait_reason.set(Wait::None);
    }

    /// Whether there is no thread in this control block: it has not started or has ended.
    pub fn has_ended(&self) -> bool {
        if options::cores() > 1 {
            return !self.smp.is_claimed();
        }
        self.wait_reason.get() == Wait::Dormant
    }

    /// Claims the control block for a new thread. Returns whether it was free.
    pub fn claim(&self) -> bool {
        if options::cores() > 1 {
            return self.smp.claim();
        }
        self.has_ended()
    }
}
