//! What others may do to a thread that does not run: cut its wait short, and have it call something.
//! Signals and cancelling are made of it.

use super::{Thread, Wait};
use crate::kernel::Kernel;
use crate::wait::Waking;
use crate::{assembly, options};

/// What a thread that was preempted calls first.
#[repr(C, align(16))]
struct InjectedCall {
    call: fn(),
    /// Its context, to go on in afterwards.
    context: usize,
}

impl Thread {
    /// Ends its wait as if its time were over, unless it waits for a mutex or to be unparked;
    /// returns whether it did.
    pub fn interrupt_wait(&'static self, waking: &Waking) -> bool {
        let waits = match self.wait_reason.get() {
            Wait::Queue => self.blocked_on.get().is_none(),
            Wait::Timer => true,
            _ => false,
        };
        if waits {
            waking.kernel().cancel_timer(&self.timer);
            self.expire_wait(waking.kernel());
        }
        waits
    }

    /// The same for a wait for a mutex, or in any other queue.
    pub fn interrupt_queue_wait(&'static self, waking: &Waking) -> bool {
        let waits = self.wait_reason.get() == Wait::Queue;
        if waits {
            waking.kernel().cancel_timer(&self.timer);
            self.expire_wait(waking.kernel());
        }
        waits
    }

    /// Has it call `call` before it goes on, if it is ready and was preempted; returns whether it
    /// will. One that waits is in the middle of a call, and none that runs needs this. `call` may
    /// wait, and takes its room of the thread's stack. For images with TENON_THREAD_INTERJECTIONS.
    pub fn inject_call(&'static self, _waking: &Waking, call: fn()) -> bool {
        if !options::call_injection() || !self.preempted.replace(false) {
            return false;
        }
        let context = self.stack_pointer.get();
        let place = assembly::place(context) - size_of::<InjectedCall>();
        let entry = run_injected_call as *const () as usize;
        // SAFETY: the thread does not run, so that nothing below its context is in use; the place is
        // aligned as the context is.
        let first = unsafe {
            (place as *mut InjectedCall).write(InjectedCall { call, context });
            assembly::lay_first_context(place, entry, place)
        };
        let kind = context & assembly::FP_DISABLED;
        self.stack_pointer.set(first | kind);
        true
    }
}

/// The first function of an interjection: the call, then back to where the thread was preempted.
extern "C" fn run_injected_call(place: *const InjectedCall) -> ! {
    // SAFETY: `inject_call` put it there for this one call.
    let InjectedCall { call, context } = unsafe { place.read() };
    Kernel::begin();
    call();
    // For the kind of thread it is.
    let mut here = context;
    assembly::mask();
    // SAFETY: interrupts are masked; the context is this thread's own, and nobody goes back to here.
    unsafe { assembly::switch(&raw mut here, context) };
    hw_arch::cpu::park()
}
