//! Back to the beginning: a vCPU, or the whole VM.

use crate::bank::{Forwarded, SGIS};
use crate::virtual_gic::Lists;
use crate::{Maintenance, Physical, Virtual};
use mortise_gic_frame::{PRIVATE, bits};

/// Steps in which a bank is reset.
const STEPS: usize = 5;

impl<const VCPUS: usize, const ROWS: usize> Virtual<VCPUS, ROWS> {
    /// Puts this core's vCPU into the state of a CPU that was powered on: empty list registers,
    /// private interrupts disabled. Shared ones it had taken are taken no more; those it was still
    /// to take stay pending. For `CPU_OFF`, and on each core before a restarted VM runs.
    ///
    /// Part by part, from 0, all on the vCPU's core while the vCPU does not run; whether there are more.
    pub fn reset_vcpu(&mut self, vcpu: usize, part: usize, physical: &mut impl Physical) -> bool {
        if vcpu >= self.vcpus {
            return false;
        }
        match part {
            0 => self.leave(vcpu, physical),
            1 => physical.clear(),
            2 => {
                physical.take_absent_ends();
                physical.set_maintenance(Maintenance::NONE);
                self.lists[vcpu] = Lists::NONE;
            }
            3..6 => self.silence(vcpu, 0, part - 3, physical),
            6 => self.private[vcpu].reset(SGIS, vcpu as u8),
            7 => self.publish(vcpu, u32::MAX, physical),
            _ => self.give_up(vcpu, part - 8, physical),
        }
        part < ROWS + 7
    }

    /// Has a vCPU have taken nothing of a row of shared interrupts.
    fn give_up(&mut self, vcpu: usize, row: usize, physical: &mut impl Physical) {
        let Some(bank) = self.shared.get_mut(row) else {
            return;
        };
        let here = bits(bank.active & !bank.listed)
            .filter(|&bit| usize::from(bank.owner(bit)) == vcpu)
            .fold(0, |word, bit| word | 1 << bit);
        bank.active &= !here;
        let others = bank.owners(bank.pending() & bank.enabled & here) & !(1 << vcpu);
        bits(others).for_each(|other| physical.kick(other as usize));
        self.each_hardware(vcpu, PRIVATE * (1 + row as u32), here, |intid, vcpu| {
            physical.deactivate(intid, vcpu);
        });
    }

    /// Puts the whole interrupt controller into the state of power-on, with every vCPU stopped.
    /// Interrupts stay given to the VM. Each vCPU passes through
    /// [`reset_vcpu`](Self::reset_vcpu) on its own core before it runs again.
    ///
    /// Part by part, from 0; whether there are more.
    pub fn reset(&mut self, part: usize, physical: &mut impl Physical) -> bool {
        if part == 0 {
            self.forwarded = Forwarded::NONE;
            self.busy = 0;
            self.lists = [Lists::NONE; VCPUS];
            return true;
        }
        let (bank, step) = ((part - 1) / STEPS, (part - 1) % STEPS);
        match bank.checked_sub(self.vcpus) {
            None => self.reset_private(bank, step, physical),
            Some(row) => self.reset_shared(row, step, physical),
        }
        part < STEPS * (self.vcpus + ROWS)
    }

    fn reset_private(&mut self, vcpu: usize, step: usize, physical: &mut impl Physical) {
        match step {
            0..3 => self.silence(vcpu, 0, step, physical),
            3 => self.private[vcpu].reset(SGIS, vcpu as u8),
            _ => self.publish(vcpu, u32::MAX, physical),
        }
    }

    fn reset_shared(&mut self, row: usize, step: usize, physical: &mut impl Physical) {
        let first = PRIVATE * (1 + row as u32);
        let Some(bank) = self.shared.get_mut(row).filter(|bank| bank.present != 0) else {
            return;
        };
        match step {
            0..3 => self.silence(0, first, step, physical),
            3 => bank.reset(0, 0),
            _ => self.each_hardware(0, first, u32::MAX, |intid, vcpu| {
                physical.set_route(intid, vcpu)
            }),
        }
    }

    /// No physical interrupt of this bank stays enabled, pending or active on the guest's behalf.
    /// All are deactivated, as a list register of another core may have held any. In three steps.
    fn silence(&self, vcpu: usize, first: u32, step: usize, physical: &mut impl Physical) {
        let Some(bank) = self.bank(vcpu, first) else {
            return;
        };
        match step {
            0 => self.each_hardware(vcpu, first, bank.enabled, |intid, vcpu| {
                physical.enable(intid, vcpu, false);
            }),
            // At power-on all that hardware backs is level-sensitive.
            1 => self.each_hardware(vcpu, first, bank.edge, |intid, vcpu| {
                physical.set_edge(intid, vcpu, false);
            }),
            _ => self.each_hardware(vcpu, first, u32::MAX, |intid, vcpu| {
                physical.set_pending(intid, vcpu, false);
                physical.deactivate(intid, vcpu);
            }),
        }
    }
}
