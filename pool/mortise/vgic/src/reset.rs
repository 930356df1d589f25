//! Back to the beginning: a vCPU, or the whole VM.

use crate::bank::{Bank, Forwarded};
use crate::virtual_gic::Lists;
use crate::{ListRegister, Maintenance, Physical, Virtual};
use mortise_gic_frame::{PRIVATE, bits};

impl<const VCPUS: usize, const ROWS: usize> Virtual<VCPUS, ROWS> {
    /// Puts this core's vCPU into the state of a CPU that was powered on: empty list registers,
    /// private interrupts disabled. Shared ones it had taken are taken no more; those it was still
    /// to take stay pending. For `CPU_OFF`, and on each core before a restarted VM runs.
    pub fn reset_vcpu(&mut self, vcpu: usize, physical: &mut impl Physical) {
        if vcpu >= self.vcpus {
            return;
        }
        self.leave(vcpu, physical);
        for index in 0..physical.list_registers().min(16) {
            physical.write(index, ListRegister::EMPTY);
        }
        physical.take_absent_ends();
        physical.set_maintenance(Maintenance::NONE);
        self.lists[vcpu] = Lists::NONE;
        self.reset_private(vcpu, physical);
        for row in 0..ROWS {
            let bank = &mut self.shared[row];
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
    }

    /// Puts the whole interrupt controller into the state of power-on, with every vCPU stopped.
    /// Interrupts stay given to the VM. Each vCPU passes through
    /// [`reset_vcpu`](Self::reset_vcpu) on its own core before it runs again.
    pub fn reset(&mut self, physical: &mut impl Physical) {
        self.forwarded = Forwarded::NONE;
        self.busy = 0;
        self.lists = [Lists::NONE; VCPUS];
        for vcpu in 0..self.vcpus {
            self.reset_private(vcpu, physical);
        }
        for row in 0..ROWS {
            if self.shared[row].present == 0 {
                continue;
            }
            let first = PRIVATE * (1 + row as u32);
            self.silence(0, first, physical);
            self.shared[row].reset(Bank::shared());
            self.each_hardware(0, first, u32::MAX, |intid, vcpu| {
                physical.set_route(intid, vcpu)
            });
        }
    }

    fn reset_private(&mut self, vcpu: usize, physical: &mut impl Physical) {
        self.silence(vcpu, 0, physical);
        self.private[vcpu].reset(Bank::private(vcpu as u8));
        self.publish(vcpu, u32::MAX, physical);
    }

    /// No physical interrupt of this bank stays enabled, pending or active on the guest's behalf.
    /// All are deactivated, as a list register of another core may have held any.
    fn silence(&self, vcpu: usize, first: u32, physical: &mut impl Physical) {
        let (enabled, edge) = self
            .bank(vcpu, first)
            .map_or((0, 0), |bank| (bank.enabled, bank.edge));
        self.each_hardware(vcpu, first, enabled, |intid, vcpu| {
            physical.enable(intid, vcpu, false);
        });
        // At power-on all that hardware backs is level-sensitive.
        self.each_hardware(vcpu, first, edge, |intid, vcpu| {
            physical.set_edge(intid, vcpu, false);
        });
        self.each_hardware(vcpu, first, u32::MAX, |intid, vcpu| {
            physical.set_pending(intid, vcpu, false);
            physical.deactivate(intid, vcpu);
        });
    }
}
