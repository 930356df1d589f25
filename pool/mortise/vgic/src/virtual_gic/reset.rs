//! Reset of a vCPU, or of the whole virtual GIC, in resumable steps.

use super::{LrState, VirtualGic};
use crate::bank::{Forwarded, SGIS};
use crate::{Maintenance, PhysicalGic};
use mortise_gicd::{PRIVATE, bits};

/// Interrupts of a bank.
const BITS: usize = u32::BITS as usize;

/// Steps to reset a bank: [`QUIET`] kinds for each interrupt, one for the bank in memory, and one that
/// publishes the result for each interrupt.
const STEPS: usize = BITS * (QUIET + 2);

/// Kinds of steps that quiesce a physical interrupt.
const QUIET: usize = 4;

/// Steps to reset a vCPU before those of its bank.
const BEFORE: usize = 3;

impl<const VCPUS: usize, const ROWS: usize> VirtualGic<VCPUS, ROWS> {
    /// Resets the vCPU of this core to the state of a CPU after power-on: empty list registers, private
    /// interrupts disabled. Shared interrupts that are active on it are deactivated; pending ones stay
    /// pending. For `CPU_OFF`, and on each core before a restarted VM runs.
    ///
    /// Resumable, in steps from 0, all on the core of the vCPU while it does not run. Returns the next
    /// step.
    pub fn reset_vcpu(
        &mut self,
        vcpu: usize,
        step_index: usize,
        physical: &mut impl PhysicalGic,
    ) -> Option<usize> {
        if vcpu >= self.vcpus {
            return None;
        }
        self.last_pulse = 0;
        match step_index {
            0 if !(self.save_lrs(vcpu, physical) && self.send_deferred_kicks(vcpu, physical)) => {
                return Some(step_index);
            }
            0 => {}
            1 => physical.clear_lrs(),
            2 => {
                physical.take_eoi_count();
                physical.set_maintenance(Maintenance::NONE);
                if let Some(lrs) = self.lrs.get_mut(vcpu) {
                    *lrs = LrState::NONE;
                }
            }
            _ => {
                let step = step_index - BEFORE;
                match step.checked_sub(STEPS) {
                    None => {
                        let next = self.reset_bank(vcpu, 0, step, physical);
                        return Some(BEFORE + next.unwrap_or(STEPS));
                    }
                    Some(row) if self.drop_active(vcpu, row, physical) => return Some(step_index),
                    Some(_) => {}
                }
            }
        }
        (step_index + 1 < BEFORE + STEPS + ROWS).then_some(step_index + 1)
    }

    /// Deactivates one interrupt of a row of shared ones that is active on a vCPU. Returns false if there is
    /// none.
    fn drop_active(&mut self, vcpu: usize, row: usize, physical: &mut impl PhysicalGic) -> bool {
        let Some(bank) = self.shared.get_mut(row) else {
            return false;
        };
        let mut here = bits(bank.active & !bank.listed);
        let Some(bit) = here.find(|&bit| usize::from(bank.owner(bit)) == vcpu) else {
            return false;
        };
        let mask = 1 << bit;
        bank.active &= !mask;
        let others = bank.owners(bank.pending() & bank.enabled & mask) & !(1 << vcpu);
        bits(others).for_each(|other| physical.kick(other as usize));
        self.each_hardware(vcpu, PRIVATE * (1 + row as u32), mask, |intid, vcpu| {
            physical.deactivate(intid, vcpu);
        });
        true
    }

    /// Resets the whole virtual GIC to the state after power-on, with every vCPU stopped. Interrupts stay
    /// assigned to the VM. Each vCPU calls [`reset_vcpu`](Self::reset_vcpu) on its own core before it runs
    /// again.
    ///
    /// Resumable, in steps from 0. Returns the next step.
    pub fn reset(&mut self, step_index: usize, physical: &mut impl PhysicalGic) -> Option<usize> {
        self.last_pulse = 0;
        let Some(step_index) = step_index.checked_sub(1) else {
            self.forwarded = Forwarded::NONE;
            self.busy = 0;
            self.lrs = [LrState::NONE; VCPUS];
            return Some(1);
        };
        let (bank, step) = (step_index / STEPS, step_index % STEPS);
        let (vcpu, first) = match bank.checked_sub(self.vcpus) {
            None => (bank, 0),
            Some(row) => (0, PRIVATE * (1 + row as u32)),
        };
        let next = self.reset_bank(vcpu, first, step, physical);
        let last = self.vcpus + ROWS;
        match next {
            Some(step) => Some(1 + bank * STEPS + step),
            None => (bank + 1 < last).then_some(1 + (bank + 1) * STEPS),
        }
    }

    /// Performs one step of the reset of a bank. Returns the next step.
    ///
    /// No physical interrupt of the bank stays enabled, pending or active on behalf of the guest. All are
    /// disabled, as the guest may have been enabling any of them, and deactivated, as any may have been in
    /// a list register of another core.
    fn reset_bank(
        &mut self,
        vcpu: usize,
        first: u32,
        step: usize,
        physical: &mut impl PhysicalGic,
    ) -> Option<usize> {
        let bank = self.bank(vcpu, first)?;
        if first >= PRIVATE && bank.present == 0 {
            return None;
        }
        let (kind, from) = (step / BITS, step % BITS);
        let word = match kind {
            // After power-on all interrupts backed by hardware are level-sensitive.
            1 => bank.edge,
            QUIET => {
                self.reset_bits(vcpu, first);
                return Some(BITS * (QUIET + 1));
            }
            _ => u32::MAX,
        };
        let left = (word & bank.hardware) >> from << from;
        if left == 0 {
            return (kind <= QUIET).then_some(BITS * (kind + 1));
        }
        let bit = left.trailing_zeros();
        let intid = first + bit;
        let frame_vcpu = self.physical_target(vcpu, intid);
        match kind {
            0 => physical.enable(intid, frame_vcpu, false),
            1 => physical.set_edge(intid, frame_vcpu, false),
            2 => physical.set_pending(intid, frame_vcpu, false),
            3 => physical.deactivate(intid, frame_vcpu),
            _ if first < PRIVATE => self.publish_templates(vcpu, 1 << bit, physical),
            _ => physical.set_route(intid, frame_vcpu),
        }
        let next = BITS * kind + bit as usize + 1;
        (next < STEPS).then_some(next)
    }

    /// Resets a bank in memory.
    fn reset_bits(&mut self, vcpu: usize, first: u32) {
        if first >= PRIVATE {
            if let Some(bank) = self.shared.get_mut((first / PRIVATE) as usize - 1) {
                bank.reset(0, 0);
            }
        } else if let Some(bank) = self.private.get_mut(vcpu) {
            bank.reset(SGIS, vcpu as u8);
        }
    }
}
