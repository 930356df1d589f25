//! Back to the beginning: a vCPU, or the whole VM.

use crate::bank::{Forwarded, SGIS};
use crate::virtual_gic::LrState;
use crate::{Maintenance, PhysicalGic, VirtualGic};
use mortise_gicd::{PRIVATE, bits};

/// Interrupts of a bank.
const BITS: usize = u32::BITS as usize;

/// Steps of a bank's way back: [`QUIET`] kinds of them for each interrupt, the bank itself, and what
/// follows from that for each interrupt.
const STEPS: usize = BITS * (QUIET + 2);

/// Kinds of steps that have an interrupt be quiet.
const QUIET: usize = 4;

/// Steps of a vCPU's way back before those of its bank.
const BEFORE: usize = 3;

impl<const VCPUS: usize, const ROWS: usize> VirtualGic<VCPUS, ROWS> {
    /// Puts this core's vCPU into the state of a CPU that was powered on: empty list registers,
    /// private interrupts disabled. Shared ones it had taken are taken no more; those it was still
    /// to take stay pending. For `CPU_OFF`, and on each core before a restarted VM runs.
    ///
    /// Part by part, from 0, all on the vCPU's core while the vCPU does not run; what follows.
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

    /// Has a vCPU have taken one interrupt of a row of shared ones less; whether there was one.
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

    /// Puts the whole interrupt controller into the state of power-on, with every vCPU stopped.
    /// Interrupts stay given to the VM. Each vCPU passes through
    /// [`reset_vcpu`](Self::reset_vcpu) on its own core before it runs again.
    ///
    /// Part by part, from 0; what follows.
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

    /// Does a step of taking a bank back; which follows. No physical interrupt of it stays enabled,
    /// pending or active on the guest's behalf. All are disabled, as the guest may have been about to
    /// enable any, and deactivated, as a list register of another core
    /// may have held any.
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
            // At power-on all that hardware backs is level-sensitive.
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

    /// Puts what stands of a bank in memory into its first state.
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
