//! Thread switching and masked sections.

use super::Kernel;
use super::assertions;
use crate::thread::Thread;
use core_sched::Reason;
use core_trace::Event;
use tenon_machine::analysis_notes as notes;
use tenon_machine::context;
use tenon_machine::irq_mask;
use tenon_machine::options;

impl Kernel {
    /// Calls `action` with interrupts masked, then preempts the current thread if `action` made a
    /// more urgent one ready. Not to be nested: the inner call would reschedule in the middle of
    /// the outer action.
    #[inline(always)]
    pub fn with_reschedule<R>(action: impl FnOnce(&'static Self) -> R) -> R {
        Self::with_reschedule_from(irq_mask::mask(), action)
    }

    /// [`with_reschedule`](Kernel::with_reschedule) for a caller that has masked interrupts and
    /// passes the previous mask.
    #[inline(always)]
    pub fn with_reschedule_from<R>(mask: u64, action: impl FnOnce(&'static Self) -> R) -> R {
        // SAFETY: the caller is a thread or a handler, which exist only after `boot`; interrupts
        // are masked until the end of this function.
        let this = unsafe { Self::this() };
        let result = action(this);
        if this.scheduler.needs_reschedule() && !irq_mask::forbids_blocking(mask) {
            this.preempt();
        }
        // SAFETY: `action` and the switch have returned, so every operation on the queues is
        // complete.
        unsafe { irq_mask::restore(mask) };
        result
    }

    /// Calls `action`, which may block, with interrupts masked. Only a thread may call this, and
    /// not inside another masked section. A handler has no context to resume, so a handler that
    /// blocks is a programming error: the build rejects calls from a handler to here, and a call
    /// through a pointer, which the build cannot see, ends in the assertion.
    #[inline(always)]
    pub fn with_blocking<R>(action: impl FnOnce(&'static Self) -> R) -> R {
        Self::with_blocking_from(irq_mask::mask(), action)
    }

    /// [`with_blocking`](Kernel::with_blocking) for a caller that has masked interrupts and passes
    /// the previous mask.
    #[inline(always)]
    pub fn with_blocking_from<R>(mask: u64, action: impl FnOnce(&'static Self) -> R) -> R {
        notes::note_blocking();
        assert!(
            !irq_mask::forbids_blocking(mask),
            "an interrupt handler must not wait"
        );
        // SAFETY: the caller is a thread, which exists only after `boot`; interrupts are masked
        // while `action` uses the reference.
        let result = action(unsafe { Self::this() });
        // SAFETY: the assertion shows that they were not masked before, and every operation on the
        // queues is complete.
        unsafe { hw_arch::cpu::unmask_interrupts() };
        result
    }

    /// Switches to `next`, if any; returns when `previous` is dispatched again. Interrupts are
    /// masked before and after.
    #[inline(always)]
    fn switch(&self, previous: &'static Thread, next: Option<&'static Thread>) {
        self.switch_server(next.unwrap_or(previous));
        if let Some(next) = next {
            assertions::check_switch(previous, next);
            self.record(Event::Run, next);
            if options::cores() > 1 {
                self.prepare_switch(previous, next);
            }
            self.start_slice(next);
            if options::remote() {
                previous.suspend_remote_work();
                next.resume_remote_work();
            }
            if options::thread_pointer() {
                context::set_thread_pointer(next.pointer());
            }
            // SAFETY: interrupts are masked in every caller. `next` is ready and not the current
            // thread, so it is suspended in `switch` or has a first context.
            unsafe {
                context::switch(
                    previous.stack_pointer().as_ptr(),
                    next.stack_pointer().get(),
                )
            };
            if options::cores() > 1 {
                self.this_core().finish_switch();
            }
        }
    }

    /// Switches to a more urgent thread, if there is one and the current thread can be preempted.
    #[inline(always)]
    pub(crate) fn preempt(&self) {
        let previous = self.current();
        self.update_budgets();
        self.save_slice(previous);
        if options::call_injection() {
            previous.preempted().set(true);
        }
        self.switch(previous, self.scheduler.next(Reason::Preemption));
        if options::call_injection() {
            previous.preempted().set(false);
        }
    }

    /// Blocks the current thread until it is woken.
    #[inline(always)]
    pub(crate) fn block(&self) {
        self.scheduler.block(self.current());
        self.switch_away();
    }

    /// Switches to the next ready thread after the current one has left the run queue.
    #[inline(always)]
    pub(crate) fn switch_away(&self) {
        let previous = self.current();
        self.update_budgets();
        self.reset_slice(previous);
        let next = self.scheduler.next(Reason::Blocking);
        self.resume_background(next);
        self.switch(previous, next);
    }

    /// Yields to the ready threads of the current thread's priority.
    #[inline(always)]
    pub fn yield_current(&self) {
        let previous = self.current();
        self.update_budgets();
        self.yield_background(previous);
        self.reset_slice(previous);
        let next = self.scheduler.yield_current();
        self.resume_background(next);
        self.switch(previous, next);
    }
}
