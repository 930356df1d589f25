//! Interruption of waits and injection of calls: what signals and cancellation are built on.

use super::Thread;
use crate::Waking;
use tenon_kernel::kernel::Kernel;
use tenon_kernel::thread::Wait;
use tenon_machine::context;
use tenon_machine::irq_mask;
use tenon_machine::options;

/// A call injected into a preempted thread, on that thread's stack.
#[repr(C, align(16))]
struct InjectedCall {
    call: fn(),
    /// The context in which the thread resumes afterwards.
    context: usize,
}

impl Thread {
    /// Ends its wait as a timeout does, unless it waits for a mutex or to be unparked. Returns
    /// whether it did.
    pub fn interrupt_wait(&'static self, waking: &Waking) -> bool {
        let waits = match self.0.wait_reason() {
            Wait::Queue => self.0.blocked_on().get().is_none(),
            Wait::Timer => true,
            _ => false,
        };
        if waits {
            self.0.interrupt_wait(waking.kernel());
        }
        waits
    }

    /// As [`interrupt_wait`](Thread::interrupt_wait), for a wait in any queue, also that of a
    /// mutex.
    pub fn interrupt_queue_wait(&'static self, waking: &Waking) -> bool {
        let waits = self.0.wait_reason() == Wait::Queue;
        if waits {
            self.0.interrupt_wait(waking.kernel());
        }
        waits
    }

    /// Makes it call `call` before it resumes, if it is ready and was preempted. Returns whether it
    /// will. A thread that waits is inside a blocking call, and the running one can call `call`
    /// itself. `call` may block, and uses the thread's stack. Only in images with
    /// TENON_THREAD_INTERJECTIONS.
    pub fn inject_call(&'static self, _waking: &Waking, call: fn()) -> bool {
        if !options::call_injection() || !self.0.preempted().replace(false) {
            return false;
        }
        let context = self.0.stack_pointer().get();
        let place = context::address(context) - size_of::<InjectedCall>();
        let entry = run_injected_call as *const () as usize;
        // SAFETY: the thread does not run, so its stack is unused below its context. `place` is
        // aligned to 16 bytes as the context is.
        let first = unsafe {
            (place as *mut InjectedCall).write(InjectedCall { call, context });
            context::write_first(place, entry, place)
        };
        let kind = context & context::FP_DISABLED;
        self.0.stack_pointer().set(first | kind);
        true
    }
}

/// Makes an injected call, then resumes the thread where it was preempted.
extern "C" fn run_injected_call(place: *const InjectedCall) -> ! {
    // SAFETY: `inject_call` wrote the record there, and only this call reads it.
    let InjectedCall { call, context } = unsafe { place.read() };
    Kernel::finish_first_switch();
    call();
    // The switch reads the mark of a thread with floating point disabled from here.
    let mut here = context;
    irq_mask::mask();
    // SAFETY: interrupts are masked, the context is that of this thread, and no switch restores
    // `here`.
    unsafe { context::switch(&raw mut here, context) };
    hw_arch::cpu::park()
}
