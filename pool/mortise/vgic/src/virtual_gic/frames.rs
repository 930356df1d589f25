//! Emulated accesses to the frames: identification, control, routing. Registers with a field per
//! interrupt are in `registers`.

use super::VirtualGic;
use crate::bank::{Forwarded, NO_VCPU};
use crate::{Access, Frame, Operation, PhysicalGic};
use mortise_gicd::{
    Half, IMPLEMENTER, PIDR2_GICV3, PRIVATE, Register, bits, control, distributor_type,
    redistributor_type,
};

impl<const VCPUS: usize, const ROWS: usize> VirtualGic<VCPUS, ROWS> {
    /// Emulates an access of `vcpu` to a frame. Returns the value read, or 0 for a write. Registers that
    /// the architecture does not define read as zero and ignore writes.
    ///
    /// Returns `None` if the core should yield: the guest must repeat the access. That happens only before
    /// effects that must not be repeated.
    #[inline]
    pub fn access(
        &mut self,
        vcpu: usize,
        access: Access,
        physical: &mut impl PhysicalGic,
    ) -> Option<u64> {
        self.last_pulse = 0;
        // The vCPU of the frame. Any vCPU of the VM may access it.
        let frame_vcpu = match access.frame {
            Frame::Distributor => vcpu,
            Frame::Redistributor(frame_vcpu) | Frame::Sgi(frame_vcpu) => frame_vcpu,
        };
        if vcpu >= self.vcpus || frame_vcpu >= self.vcpus {
            return Some(0);
        }
        let register = Register::decode(access.frame, access.offset, access.width);
        if physical.should_yield() {
            return None;
        }
        match access.operation {
            Operation::Read => self.read(vcpu, frame_vcpu, register, physical),
            Operation::Write(value) => {
                let value = value & access.width.mask();
                self.write(vcpu, frame_vcpu, register, value, physical)
                    .then_some(0)
            }
        }
    }

    #[inline]
    fn read(
        &mut self,
        vcpu: usize,
        frame_vcpu: usize,
        register: Register,
        physical: &mut impl PhysicalGic,
    ) -> Option<u64> {
        let value = match register {
            Register::Bank { bank, first } => {
                return self.read_bank(vcpu, frame_vcpu, bank, first, physical);
            }
            Register::Priority { first, count } => self.read_priority(frame_vcpu, first, count),
            Register::Configuration { first } => self.read_configuration(frame_vcpu, first),
            Register::Route { intid, half } => half.of(self.read_route(intid)),
            Register::DistributorControl => control::ARE | control::DS | self.forwarded.control(),
            Register::DistributorType => distributor_type(PRIVATE * (1 + ROWS as u32)),
            Register::RedistributorType(half) => {
                half.of(redistributor_type(frame_vcpu, self.vcpus))
            }
            Register::Implementer => IMPLEMENTER,
            Register::Peripheral2 => PIDR2_GICV3,
            // No LPIs, and no write is ever pending.
            Register::RedistributorControl | Register::Reserved => 0,
        };
        Some(value)
    }

    /// Returns false if the guest must repeat the write.
    #[inline]
    fn write(
        &mut self,
        vcpu: usize,
        frame_vcpu: usize,
        register: Register,
        value: u64,
        physical: &mut impl PhysicalGic,
    ) -> bool {
        match register {
            Register::Bank { bank, first } => {
                return self.write_bank(vcpu, frame_vcpu, bank, first, value as u32, physical);
            }
            Register::Priority { first, count } => {
                return self.write_priority(vcpu, frame_vcpu, first, count, value, physical);
            }
            Register::Configuration { first } => {
                return self.write_configuration(frame_vcpu, first, value as u32, physical);
            }
            Register::Route {
                intid,
                half: Half::Low | Half::Both,
            } => {
                return self.write_route(vcpu, intid, value, physical);
            }
            // Aff3 is always zero: GICD_TYPER.A3V = 0.
            Register::Route {
                half: Half::High, ..
            } => {}
            Register::DistributorControl => return self.write_control(vcpu, value, physical),
            Register::DistributorType
            | Register::RedistributorControl
            | Register::RedistributorType(_)
            | Register::Implementer
            | Register::Peripheral2
            | Register::Reserved => {}
        }
        true
    }

    fn write_control(&mut self, vcpu: usize, value: u64, physical: &mut impl PhysicalGic) -> bool {
        let forwarded = Forwarded::of(value);
        if self.forwarded == forwarded {
            return true;
        }
        let deferred = physical.defer_refresh();
        if physical.should_yield() {
            return false;
        }
        self.forwarded = forwarded;
        for lrs in self.lrs.iter_mut().take(self.vcpus) {
            lrs.templates_stale = true;
        }
        self.notify(vcpu, (1 << self.vcpus) - 1, deferred, physical);
        true
    }

    fn read_route(&self, intid: u32) -> u64 {
        let bit = intid % 32;
        match self.bank(0, intid) {
            Some(bank) if bank.present >> bit & 1 != 0 => u64::from(bank.route(bit)),
            _ => 0,
        }
    }

    fn write_route(
        &mut self,
        vcpu: usize,
        intid: u32,
        value: u64,
        physical: &mut impl PhysicalGic,
    ) -> bool {
        /// Aff2, Aff1, Aff0. IRM is RES0 where there is no 1-of-N routing (GICD_TYPER.No1N).
        const AFFINITY: u64 = 0x00ff_ffff;
        let affinity = value & AFFINITY;
        let known = affinity < self.vcpus as u64;
        let route = if known { affinity as u8 } else { NO_VCPU };
        let bit = intid % 32;
        let Some(bank) = self.bank_mut(vcpu, intid) else {
            return true;
        };
        if bank.present >> bit & 1 == 0 || bank.route(bit) == route {
            return true;
        }
        let affected = (bank.pending() & bank.enabled | bank.listed) & 1 << bit;
        let deferred = affected != 0 && physical.defer_refresh();
        if physical.should_yield() {
            return false;
        }
        bank.set_route(bit, route);
        let owners = bank.owners(affected);
        if bank.hardware >> bit & 1 != 0 && known {
            physical.set_route(intid, usize::from(route));
        }
        self.notify(vcpu, owners, deferred, physical);
        true
    }

    /// Calls `f` with each of these interrupts that is backed by hardware, and its target vCPU.
    pub(crate) fn each_hardware(
        &self,
        frame_vcpu: usize,
        first: u32,
        word: u32,
        mut f: impl FnMut(u32, usize),
    ) {
        let Some(bank) = self.bank(frame_vcpu, first) else {
            return;
        };
        for bit in bits(word & bank.hardware) {
            f(first + bit, self.physical_target(frame_vcpu, first + bit));
        }
    }
}
