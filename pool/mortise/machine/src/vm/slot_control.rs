//! Control of a VM slot by its manager.

use crate::vm::Vm;
use core::sync::atomic::Ordering;
use core_manifest::Schedule;
use core_paging::{Access, Error};
use hw_arch::cache;
use mortise_state::{
    slot::{CLEAR_BYTES, OWN, Slot, SlotConfig},
    stacks::PAGE,
};

impl Vm {
    /// Whether this VM is a VM slot.
    #[must_use]
    #[inline]
    pub fn is_slot(&self) -> bool {
        self.slot().is_some()
    }

    /// Whether this is a VM slot without an instance.
    #[must_use]
    pub fn is_vacant(&self) -> bool {
        self.vacant_slot().is_some()
    }

    /// The slot, if it has no instance.
    pub fn vacant_slot(&self) -> Option<&'static Slot> {
        self.slot()
            .filter(|slot| slot.vacant.load(Ordering::Acquire))
    }

    /// Maps `pa` at `ipa` in a vacant slot, with the granule of `SlotMap::map`.
    ///
    /// # Errors
    ///
    /// Those of `SlotMap::map`; [`Error::Live`] if the slot is not vacant.
    pub fn map(&self, ipa: u64, pa: u64, access: Access) -> Result<(), Error> {
        let slot = self.vacant_slot().ok_or(Error::Live(ipa as usize))?;
        slot.map.map(ipa as usize, pa as usize, access)
    }

    /// Unmaps `ipa` in a vacant slot.
    ///
    /// # Errors
    ///
    /// Those of `SlotMap::unmap`; [`Error::Live`] if the slot is not vacant.
    pub fn unmap(&self, ipa: u64) -> Result<(), Error> {
        let slot = self.vacant_slot().ok_or(Error::Live(ipa as usize))?;
        slot.map.unmap(ipa as usize)
    }

    /// Clears one part of the last instance's status page; returns false after the last part.
    pub fn clear_status(&self, part: usize) -> bool {
        self.vacant_slot().is_some() && self.status.clear(part)
    }

    /// Clears one part of the last instance's log ring; returns false after the last part.
    pub fn clear_log(&self, part: usize) -> bool {
        let at = PAGE + part.saturating_mul(CLEAR_BYTES);
        let Some(slot) = self.vacant_slot().filter(|_| at < OWN) else {
            return false;
        };
        // SAFETY: every core maps the areas of slots permanently, and a vacant slot has no log ring
        // that another core could read.
        unsafe { cache::zero_to_poc(slot.area.start() as usize + at, CLEAR_BYTES) };
        at + CLEAR_BYTES < OWN
    }

    /// Moves the instance's recent output into `buffer`; returns the number of bytes.
    pub fn read_backlog(&self, buffer: &mut [u8]) -> usize {
        self.slot()
            .map_or(0, |slot| slot.backlog.lock().pop(buffer))
    }

    /// Sets the scheduling parameters of the next instance in a vacant slot.
    pub fn set_schedule(&self, schedule: Schedule) {
        if let Some(slot) = self.vacant_slot() {
            // SAFETY: the slot is vacant, so that no core reads the description, and the registry
            // of the lifecycle library lets one manager at a time change a slot.
            unsafe { slot.description.get_mut() }.schedule = schedule;
        }
    }

    /// Writes the description of the next instance into a vacant slot, in parts from 0; returns
    /// whether more parts follow. Has no effect on a slot that is not vacant, or with a description
    /// that does not fit.
    pub fn describe(&self, current: &SlotConfig<'_>, part: usize) -> bool {
        let Some(slot) = self.vacant_slot() else {
            return false;
        };
        // SAFETY: the slot is vacant, so that no core reads the description, and the registry of
        // the lifecycle library lets one manager at a time change a slot.
        let description = unsafe { slot.description.get_mut() };
        match part {
            0 => description.name.set(current.name),
            1 => {
                description.entry = current.entry;
                description.argument = current.argument;
                description.cpus.clear();
                // Every core has discarded the last instance's context, so that its orders can be
                // cleared.
                self.orders.store(0, Ordering::Release);
                let mut cpus = current.cpus.iter();
                cpus.all(|&cpu| description.cpus.push(cpu))
            }
            2 => current.write_memory(description),
            3 => {
                self.status.set_name(description.name);
                true
            }
            _ => {
                self.status.renew(current.handle, current.cpus);
                false
            }
        }
    }
}
