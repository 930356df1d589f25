//! Threads whose work is done elsewhere, as long as they have the core.

use super::Thread;
use crate::kernel::Kernel;
use hw_arch::cpu;

/// What works elsewhere for a thread. Both are called with interrupts masked, and wake nobody.
pub trait RemoteWork: Sync {
    /// The thread loses the core: nothing is to be done for it.
    fn suspend(&self);

    /// It has the core again.
    fn resume(&self);
}

/// Has `remote` work for the current thread, which keeps its priority and its turns: it is ready, and
/// idles. `begin` starts it; then `ends` is asked at each interrupt whether it is over, and what came
/// of it. Both are called with interrupts masked. Only with TENON_THREAD_REMOTE the work stops while
/// others have the core.
pub fn run_remotely<R, E>(
    remote: &'static dyn RemoteWork,
    begin: impl FnOnce() -> Result<(), E>,
    ends: impl Fn() -> Option<R>,
) -> Result<R, E> {
    Kernel::with_irqs_masked(|kernel| {
        begin()?;
        kernel.current().remote.set(Some(remote));
        Ok(())
    })?;
    loop {
        let end = Kernel::with_irqs_masked(|kernel| {
            let end = ends();
            match end {
                Some(_) => kernel.current().remote.set(None),
                // Whatever comes is taken when interrupts are unmasked, and others may run then.
                None => cpu::wait_for_interrupt(),
            }
            end
        });
        if let Some(end) = end {
            return Ok(end);
        }
    }
}

impl Thread {
    /// It loses the core.
    #[inline(always)]
    pub(crate) fn suspend_remote_work(&self) {
        if let Some(remote) = self.remote.get() {
            remote.suspend();
        }
    }

    /// It has the core.
    #[inline(always)]
    pub(crate) fn resume_remote_work(&self) {
        if let Some(remote) = self.remote.get() {
            remote.resume();
        }
    }
}
