//! Threads whose work is done elsewhere, as long as they have the core.

use super::Thread;
use crate::kernel::Kernel;
use hw_arch::cpu;

/// What works elsewhere for a thread. Both are called with interrupts masked, and wake nobody.
pub trait Remote: Sync {
    /// The thread loses the core: nothing is to be done for it.
    fn leaves(&self);

    /// It has the core again.
    fn comes(&self);
}

/// Has `remote` work for the current thread, which keeps its priority and its turns: it is ready, and
/// idles. `begin` starts it; then `ends` is asked at each interrupt whether it is over, and what came
/// of it. Both are called with interrupts masked. Only with TENON_THREAD_REMOTE the work stops while
/// others have the core.
pub fn remotely<R, E>(
    remote: &'static dyn Remote,
    begin: impl FnOnce() -> Result<(), E>,
    ends: impl Fn() -> Option<R>,
) -> Result<R, E> {
    Kernel::aside(|kernel| {
        begin()?;
        kernel.current().remote.set(Some(remote));
        Ok(())
    })?;
    loop {
        let end = Kernel::aside(|kernel| {
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
    pub(crate) fn leaves(&self) {
        if let Some(remote) = self.remote.get() {
            remote.leaves();
        }
    }

    /// It has the core.
    #[inline(always)]
    pub(crate) fn comes(&self) {
        if let Some(remote) = self.remote.get() {
            remote.comes();
        }
    }
}
