//! Threaded interrupts.

use super::{Error, Priority as Urgency, Trigger, register_in};
use crate::thread::{self, Priority, Storage};
use core::cell::Cell;
use tenon_kernel::kernel::Kernel;
use tenon_kernel::thread::{Thread as ThreadState, above_idle};

/// The first SPI; the interrupts below are private to each core (GICv3, IHI 0069, 2.2).
const FIRST_SPI: u32 = 32;

/// An interrupt that a thread serves: the thread can take long, block, and be preempted.
///
/// The handler disables the interrupt, so that a level that stays asserted does not interrupt
/// again, and makes the thread ready. When the thread is done, it enables the interrupt. The
/// controller keeps an edge that arrives meanwhile pending, so none is lost; several can merge into
/// one.
///
/// ```no_run
/// use tenon_thread::interrupt::{Error, Threaded, Trigger};
/// use tenon_thread::thread::Priority;
///
/// static SENSOR: Threaded<2048> = Threaded::new("sensor", 40, Trigger::Level);
///
/// Threaded::start(|| &SENSOR, Priority::new(30), |_| { /* read it */ })?;
/// # Ok::<(), Error>(())
/// ```
pub struct Threaded<const STACK: usize> {
    name: &'static str,
    intid: u32,
    trigger: Trigger,
    thread: Cell<Option<&'static ThreadState>>,
    storage: Storage<STACK>,
}

// SAFETY: the cell is accessed with interrupts masked only. It is written before the handler can
// run, and afterwards read by the handler alone.
unsafe impl<const STACK: usize> Sync for Threaded<STACK> {}

impl<const STACK: usize> Threaded<STACK> {
    /// A threaded interrupt that is not started.
    pub const fn new(name: &'static str, intid: u32, trigger: Trigger) -> Self {
        Self {
            name,
            intid,
            trigger,
            thread: Cell::new(None),
            storage: Storage::new(),
        }
    }

    /// Enables the interrupt, with the default priority, and starts a thread of `priority` that runs
    /// `body` for each. `itself` returns this static, as the handler captures nothing.
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
        // In one masked section, so that no interrupt is taken before its thread exists.
        Kernel::with_reschedule(|kernel| {
            register_in(kernel, intid, this.trigger, Urgency::DEFAULT, move |_| {
                itself().interrupted()
            })?;
            let storage = &this.storage;
            match storage.prepare(kernel, this.name, above_idle(priority), serve) {
                Ok(thread) => {
                    if intid < FIRST_SPI {
                        // A private interrupt can be enabled on its own core only.
                        thread.smp().init(kernel.index(), true);
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

    /// The handler.
    fn interrupted(&self) {
        Kernel::with_irqs_masked(|kernel| kernel.interrupts.disable(self.intid));
        if let Some(thread) = self.thread.get() {
            Kernel::with_reschedule(|kernel| thread.unpark(kernel));
        }
    }
}
