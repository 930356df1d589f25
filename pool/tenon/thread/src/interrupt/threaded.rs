//! Handlers that are threads.

use super::{Error, Priority as Urgency, Trigger, register_in};
use crate::kernel::Kernel;
use crate::thread::{self, Priority, Storage, Thread, above_idle};
use core::cell::Cell;

/// The first interrupt that all cores share; those before it each core has for itself (GICv3, IHI
/// 0069, 2.2).
const SHARED: u32 = 32;

/// An interrupt whose work a thread does: it may take its time, wait and be preempted by whoever is
/// more urgent.
///
/// At the interrupt its line is shut, so that a level that stays high interrupts no more, and the
/// thread is made ready; when the thread is done, the line is opened again. An edge that comes
/// meanwhile is kept by the controller, so that none is lost; several may become one.
///
/// ```no_run
/// use tenon_thread::interrupt::{Error, Threaded, Trigger};
/// use tenon_thread::thread::Priority;
///
/// static SENSOR: Threaded<2048> = Threaded::new("sensor", 40, Trigger::Level);
///
/// Threaded::start(|| &SENSOR, Priority::new(30), |_| { /* read it, at leisure */ })?;
/// # Ok::<(), Error>(())
/// ```
pub struct Threaded<const STACK: usize> {
    name: &'static str,
    intid: u32,
    trigger: Trigger,
    thread: Cell<Option<&'static Thread>>,
    storage: Storage<STACK>,
}

// SAFETY: the cell is reached with interrupts masked only, on the core the interrupt comes to.
unsafe impl<const STACK: usize> Sync for Threaded<STACK> {}

impl<const STACK: usize> Threaded<STACK> {
    /// The handler of an interrupt, not started.
    pub const fn new(name: &'static str, intid: u32, trigger: Trigger) -> Self {
        Self {
            name,
            intid,
            trigger,
            thread: Cell::new(None),
            storage: Storage::new(),
        }
    }

    /// Lets the interrupt through, to a thread of this priority that runs `body` for it. `itself`
    /// names the static for the handler, which captures nothing.
    pub fn start<I, F>(itself: I, priority: Priority, mut body: F) -> Result<(), Error>
    where
        I: Fn() -> &'static Self + Copy + 'static,
        F: FnMut(u32) + Send + 'static,
    {
        const { assert!(size_of::<I>() == 0, "an interrupt handler captures nothing") };
        let this = itself();
        let intid = this.intid;
        let serve = move || {
            loop {
                thread::park();
                body(intid);
                Kernel::with_irqs_masked(|kernel| kernel.interrupts.enable(intid));
            }
        };
        // In one masked section, so that no interrupt comes before there is a thread for it.
        Kernel::with_reschedule(|kernel| {
            register_in(kernel, intid, this.trigger, Urgency::DEFAULT, move |_| {
                itself().interrupted()
            })?;
            let storage = &this.storage;
            match storage.prepare(kernel, this.name, above_idle(priority), serve) {
                Ok(thread) => {
                    if intid < SHARED {
                        // Each core has a line of its own, which it alone opens again.
                        thread.smp().settle(kernel.index(), true);
                    }
                    this.thread.set(Some(thread));
                    thread.wake(kernel);
                    Ok(())
                }
                Err(_) => {
                    kernel.interrupts.unregister(intid);
                    Err(Error::NoThread(intid))
                }
            }
        })
    }

    /// The handler proper.
    fn interrupted(&self) {
        Kernel::with_irqs_masked(|kernel| kernel.interrupts.disable(self.intid));
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}
