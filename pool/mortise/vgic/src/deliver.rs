//! Interrupts on their way into vCPUs, and back.

use crate::bank::NOBODY;
use crate::select::{Claim, Selection};
use crate::{ListRegister, Maintenance, Physical, Virtual};
use mortise_gic_frame::{PRIVATE, SgiRequest, bits};

impl<const VCPUS: usize, const ROWS: usize> Virtual<VCPUS, ROWS> {
    /// Brings the list registers of this core's vCPU up to date: after a kick, a maintenance
    /// interrupt, or before its first entry.
    pub fn refresh(&mut self, vcpu: usize, physical: &mut impl Physical) {
        self.leave(vcpu, physical);
        self.enter(vcpu, physical);
    }

    /// Takes back what is in the list registers, leaving them empty. An interrupt that has been
    /// routed elsewhere meanwhile is passed on.
    pub fn leave(&mut self, vcpu: usize, physical: &mut impl Physical) {
        if vcpu >= self.vcpus {
            return;
        }
        if self.lists[vcpu].absent {
            self.end_absent(vcpu, physical);
        }
        let mut others = 0;
        // A template may have filled list register 0, with news of what is ended in another: last.
        let used = core::mem::take(&mut self.lists[vcpu].used) & !1;
        for index in bits(used).chain([0]) {
            let value = physical.read(index as usize);
            if value != ListRegister::EMPTY {
                physical.write(index as usize, ListRegister::EMPTY);
                others |= self.fold(vcpu, value);
            }
        }
        bits(others & !(1 << vcpu)).for_each(|other| physical.kick(other as usize));
    }

    /// Takes back one list register; the vCPU to tell, as a bit, if the interrupt is another's now.
    #[inline]
    fn fold(&mut self, vcpu: usize, value: ListRegister) -> u32 {
        let intid = value.intid();
        let shared = intid >= PRIVATE;
        let forwarded = self.forwarded;
        let Some(bank) = self.bank_mut(vcpu, intid) else {
            return 0;
        };
        if !bank.unlist(value, vcpu as u8, shared) || !shared {
            return 0;
        }
        let mask = 1 << (intid % 32);
        let (ready, _) = bank.candidates(forwarded);
        let others = bank.owners(ready & mask);
        if (bank.pending() | bank.active) & mask != 0 {
            self.mark_busy(intid);
        }
        others
    }

    /// The guest ended interrupts that had lost their list register: these are the most urgent
    /// active ones, because ends come in the reverse order of their beginnings (section 4.8.2).
    #[cold]
    fn end_absent(&mut self, vcpu: usize, physical: &mut impl Physical) {
        for _ in 0..physical.take_absent_ends() {
            let mut first = None;
            self.each_candidate(vcpu, |claim, active| {
                if active && first.is_none_or(|other| claim < other) {
                    first = Some(claim);
                }
            });
            let Some(claim) = first else { return };
            let intid = claim.intid();
            let Some(bank) = self.bank_mut(vcpu, intid) else {
                return;
            };
            let mask = 1 << (intid % 32);
            bank.active &= !mask;
            // Pending again, it may be another's by now.
            let others = bank.owners(bank.pending() & bank.enabled & mask) & !(1 << vcpu);
            if bank.hardware & mask != 0 {
                physical.deactivate(intid, vcpu);
            }
            bits(others).for_each(|other| physical.kick(other as usize));
        }
    }

    /// Calls `f` with what this vCPU has or would get and what is in no list register.
    #[inline]
    fn each_candidate(&mut self, vcpu: usize, mut f: impl FnMut(Claim, bool)) {
        let forwarded = self.forwarded;
        let private = &self.private[vcpu];
        let (ready, active) = private.candidates(forwarded);
        for bit in bits(ready | active) {
            let active = active >> bit & 1 != 0;
            f(Claim::new(private.priority(bit), active, bit), active);
        }
        for row in bits(self.busy) {
            let bank = &self.shared[row as usize];
            if bank.pending() | bank.active == 0 {
                self.busy &= !(1 << row);
                continue;
            }
            let (ready, active) = bank.candidates(forwarded);
            for bit in bits(ready | active) {
                if usize::from(bank.owner(bit)) == vcpu {
                    let active = active >> bit & 1 != 0;
                    f(
                        Claim::new(bank.priority(bit), active, PRIVATE * (row + 1) + bit),
                        active,
                    );
                }
            }
        }
    }

    /// Fills the list registers, which are empty, with the most urgent interrupts of this vCPU,
    /// and asks for a maintenance interrupt if some must wait.
    pub fn enter(&mut self, vcpu: usize, physical: &mut impl Physical) {
        if vcpu >= self.vcpus {
            return;
        }
        let count = physical.list_registers().clamp(1, 16);
        let room = if self.has_templates(vcpu, count) {
            count - 1
        } else {
            count
        };
        let mut selection = Selection::new(room);
        self.each_candidate(vcpu, |claim, _| selection.offer(claim));
        let forwarded = self.forwarded;
        let mut used = 0;
        for (place, claim) in selection.finish().iter().enumerate() {
            let (intid, index) = (claim.intid(), count - 1 - place);
            let first = intid & !31;
            if let Some(bank) = self.bank_mut(vcpu, intid) {
                physical.write(index, bank.list(first, intid % 32, vcpu as u8, forwarded));
                used |= 1 << index;
            }
        }
        let wanted = Maintenance {
            // With room for one only, underflow would be permanent.
            underflow: selection.active_left > 0 && room > 1,
            no_pending: selection.pending_left > 0,
            absent_end: selection.active_left > 0,
        };
        let lists = &mut self.lists[vcpu];
        lists.used = used;
        lists.absent = selection.active_left > 0;
        if lists.maintenance != wanted {
            lists.maintenance = wanted;
            physical.set_maintenance(wanted);
            self.publish(vcpu, u32::MAX, physical);
        }
    }

    /// Injects a physical interrupt that this core acknowledged and whose priority it dropped;
    /// the guest's end of interrupt deactivates it. False if the VM does not own it.
    pub fn inject_hardware(
        &mut self,
        vcpu: usize,
        intid: u32,
        physical: &mut impl Physical,
    ) -> bool {
        let bit = intid % 32;
        if vcpu >= self.vcpus {
            return false;
        }
        match self.bank(vcpu, intid) {
            Some(bank) if bank.hardware >> bit & 1 != 0 => {}
            _ => return false,
        }
        // First the past: an earlier one of the same INTID may still be listed here, as ended.
        self.leave(vcpu, physical);
        if let Some(bank) = self.bank_mut(vcpu, intid) {
            bank.arrive(bit);
            let owner = bank.owner(bit);
            if owner != NOBODY && usize::from(owner) != vcpu {
                physical.kick(usize::from(owner));
            }
        }
        self.mark_busy(intid);
        self.enter(vcpu, physical);
        true
    }

    /// The line of an emulated device rose or fell. `vcpu` says whose interrupt it is if it is a
    /// PPI. May kick any vCPU, that of this core among them.
    pub fn set_line(&mut self, vcpu: usize, intid: u32, high: bool, physical: &mut impl Physical) {
        let mask = 1 << (intid % 32);
        let Some(bank) = self.bank_mut(vcpu, intid) else {
            return;
        };
        if bank.present & !bank.hardware & mask == 0 || (bank.line & mask != 0) == high {
            return;
        }
        bank.line ^= mask;
        if high {
            bank.latch |= bank.edge & mask;
        }
        // A level that moves while listed changes what the list register should say.
        let edge_fell = bank.edge & mask != 0 && !high;
        let concerned = bank.listed | if high { bank.enabled } else { 0 };
        let owners = if edge_fell {
            0
        } else {
            bank.owners(concerned & mask)
        };
        self.mark_busy(intid);
        bits(owners).for_each(|owner| physical.kick(owner as usize));
    }

    /// Sends the SGI a guest asked for by ICC_SGI1R_EL1 (`group1`), or by ICC_SGI0R_EL1 or
    /// ICC_ASGI1R_EL1, which reach only those in Group 0 (section 12.1.10).
    pub fn send_sgi(
        &mut self,
        vcpu: usize,
        request: SgiRequest,
        group1: bool,
        physical: &mut impl Physical,
    ) {
        if vcpu >= self.vcpus {
            return;
        }
        let mask = 1u32 << request.intid();
        let mut whom = 0;
        for target in bits(request.targets(vcpu, self.vcpus)) {
            let bank = &mut self.private[target as usize];
            if !group1 && bank.group & mask != 0 {
                continue;
            }
            bank.latch |= mask;
            if bank.enabled & mask != 0 {
                whom |= 1 << target;
            }
        }
        self.tell(vcpu, whom, physical);
    }

    /// Lets vCPUs know of a change: this core's at once, the others by a kick.
    pub(crate) fn tell(&mut self, vcpu: usize, whom: u32, physical: &mut impl Physical) {
        if whom >> vcpu & 1 != 0 {
            self.refresh(vcpu, physical);
        }
        bits(whom & !(1 << vcpu)).for_each(|other| physical.kick(other as usize));
    }
}
