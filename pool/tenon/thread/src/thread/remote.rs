//! Threads with work that runs elsewhere while they run.

use super::RemoteWork;
use hw_arch::cpu;
use tenon_kernel::kernel::Kernel;

/// Runs `remote` on behalf of the current thread, which stays ready at its priority, is sliced as
/// before, and idles. `begin` starts the work; `ends` is called after each interrupt and returns
/// the result once the work is complete. Both are called with interrupts masked. The work is
/// suspended while other threads run only in images with TENON_THREAD_REMOTE.
pub fn run_remotely<R, E>(
    remote: &'static dyn RemoteWork,
    begin: impl FnOnce() -> Result<(), E>,
    ends: impl Fn() -> Option<R>,
) -> Result<R, E> {
    Kernel::with_irqs_masked(|kernel| {
        begin()?;
        kernel.current().set_remote_work(Some(remote));
        Ok(())
    })?;
    loop {
        let end = Kernel::with_irqs_masked(|kernel| {
            let end = ends();
            match end {
                Some(_) => kernel.current().set_remote_work(None),
                // A pending interrupt ends WFI and is taken when interrupts are unmasked; other
                // threads can run then.
                None => cpu::wait_for_interrupt(),
            }
            end
        });
        if let Some(end) = end {
            return Ok(end);
        }
    }
}
