//! What a core that is shared does for Mortise itself, between what its guests do.

use crate::{console, machine::Core};
use core::cell::Cell;

/// Something is to be done before any guest goes on: what one of them asked for.
const ASKED: usize = 0;
/// Something is due by the clock.
const DUE: usize = 1;
/// That has waited long enough.
const OVERDUE: usize = 2;

/// The bytes of what waits for nobody.
const PRESSING: u32 = 0xff << (8 * ASKED) | 0xff << (8 * OVERDUE);

/// Nanoseconds that what is due by the clock waits for somebody urgent at most.
const PATIENCE: u64 = 1_000_000;

/// What there is to do: a byte of each kind, so that to ask is a store, and one load sees all.
#[repr(align(4))]
pub(crate) struct DeferredWork(Cell<[u8; 4]>);

impl DeferredWork {
    /// Nothing.
    pub(crate) const fn new() -> Self {
        Self(Cell::new([0; 4]))
    }

    /// Has there be something that goes before any guest.
    pub(crate) fn request(&self) {
        self.kinds()[ASKED].set(1);
    }

    #[inline(always)]
    fn kinds(&self) -> &[Cell<u8>] {
        let kinds: &Cell<[u8]> = &self.0;
        kinds.as_slice_of_cells()
    }

    #[inline]
    fn all(&self) -> u32 {
        u32::from_le_bytes(self.0.get())
    }
}

/// Each on that core.
impl Core {
    /// Notes that Mortise itself has something to do here by now. If it is still there to be done
    /// when this comes again, it waits for nobody any more.
    pub fn hypervisor_timer_expired(&'static self) {
        let kinds = self.deferred_work.kinds();
        let waits = kinds[DUE].replace(1) != 0;
        kinds[OVERDUE].set(waits.into());
        let clock = self.clock();
        self.set_hypervisor_deadline(match waits {
            false => clock.ticks() + clock.frequency().ticks(PATIENCE),
            true => u64::MAX,
        });
    }

    /// Whether there are chores.
    #[inline]
    #[must_use]
    pub fn has_deferred_work(&self) -> bool {
        self.deferred_work.all() != 0
    }

    /// Whether some of them wait for nobody.
    #[inline]
    #[must_use]
    pub fn has_urgent_work(&self) -> bool {
        self.deferred_work.all() & PRESSING != 0
    }

    /// Does a step of the chores: until `stop` says so, which it is asked between two pieces of it.
    pub fn run_deferred_work(&'static self, stop: &dyn Fn() -> bool) {
        if !console::settle_lines(self, stop) || !console::flush(self.machine, stop) || stop() {
            return;
        }
        if self.typed.get() {
            self.typed.set(!console::take_typed(self.machine, stop));
            return;
        }
        // What is due is not for everybody to wait for.
        let asked = self.deferred_work.kinds()[ASKED].replace(0) != 0;
        if !asked && !self.machine.hypervisor_timer.step(self, stop) {
            self.deferred_work.0.set([0; 4]);
        }
    }
}
