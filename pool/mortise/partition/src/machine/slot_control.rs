//! Control of a VM slot by its manager.

use super::{
    slot::{CLEARED, OWN, PAGE, Slot, SlotConfig},
    vm::Vm,
};
use core::sync::atomic::Ordering;
use core_manifest::Schedule;
use core_paging::{Access, Error};
use hw_arch::cache;

impl Vm {
    /// Whether this is a place for virtual machines made at run time.
    #[must_use]
    #[inline]
    pub fn is_slot(&self) -> bool {
        self.slot().is_some()
    }

    /// Whether it is one and nobody lives there.
    #[must_use]
    pub fn is_vacant(&self) -> bool {
        self.vacant_slot().is_some()
    }

    /// The slot, if it is one and nobody lives there.
    pub(crate) fn vacant_slot(&self) -> Option<&'static Slot> {
        self.slot()
            .filter(|slot| slot.vacant.load(Ordering::Acquire))
    }

    /// Maps `pa` at `ipa` in a vacant place, as much as [`SlotMap::map`] maps there.
    ///
    /// # Errors
    ///
    /// Those of [`SlotMap::map`]; [`Error::Live`] if it is not vacant.
    pub fn map(&self, ipa: u64, pa: u64, access: Access) -> Result<(), Error> {
        let slot = self.vacant_slot().ok_or(Error::Live(ipa as usize))?;
        slot.map.map(ipa as usize, pa as usize, access)
    }

    /// Maps nothing at `ipa` in a vacant place.
    ///
    /// # Errors
    ///
    /// Those of [`SlotMap::unmap`]; [`Error::Live`] if it is not vacant.
    pub fn unmap(&self, ipa: u64) -> Result<(), Error> {
        let slot = self.vacant_slot().ok_or(Error::Live(ipa as usize))?;
        slot.map.unmap(ipa as usize)
    }

    /// Clears a part of what the last one left in its status page; false behind the last part.
    pub fn clear_status(&self, part: usize) -> bool {
        self.vacant_slot().is_some() && self.status.clear(part)
    }

    /// Clears a part of what the last one left in its log ring; false behind the last part.
    pub fn clear_log(&self, part: usize) -> bool {
        let at = PAGE + part.saturating_mul(CLEARED);
        let Some(slot) = self.vacant_slot().filter(|_| at < OWN) else {
            return false;
        };
        // SAFETY: every core maps slots' areas for good; nobody lives there, so that nobody has a ring
        // there.
        unsafe { cache::zero_to_memory(slot.area.start() as usize + at, CLEARED) };
        at + CLEARED < OWN
    }

    /// Moves what the one who lives there printed lately into `buffer`, and says how many bytes.
    pub fn read_backlog(&self, buffer: &mut [u8]) -> usize {
        self.slot()
            .map_or(0, |slot| slot.backlog.lock().pop(buffer))
    }

    /// Says how who is to live in a vacant place shares its cores.
    pub fn set_schedule(&self, schedule: Schedule) {
        if let Some(slot) = self.vacant_slot() {
            // SAFETY: as for `describe`.
            unsafe { slot.description.get_mut() }.schedule = schedule;
        }
    }

    /// Describes who is to live in a vacant place, part by part, from 0; whether there are more.
    /// Nothing is described where it is not vacant, or what cannot be.
    pub fn describe(&self, occupant: &SlotConfig<'_>, part: usize) -> bool {
        let Some(slot) = self.vacant_slot() else {
            return false;
        };
        // SAFETY: the place is vacant, so nobody reads the description; that one manager at a time is
        // at it is what the registry of those who call sees to.
        let description = unsafe { slot.description.get_mut() };
        match part {
            0 => description.name.set(occupant.name),
            1 => {
                description.entry = occupant.entry;
                description.argument = occupant.argument;
                description.cpus.clear();
                // Every core has forgotten the last one: whoever is to come may be put together by
                // its own.
                self.orders.store(0, Ordering::Release);
                let mut cpus = occupant.cpus.iter();
                cpus.all(|&cpu| description.cpus.push(cpu))
            }
            2 => occupant.inhabit(description),
            3 => {
                self.status.set_name(description.name);
                true
            }
            _ => {
                self.status.renew(occupant.handle, occupant.cpus);
                false
            }
        }
    }
}
