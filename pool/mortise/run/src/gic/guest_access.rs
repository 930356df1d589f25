//! Accesses of guests to the GIC's registers.

use super::vm_interrupts::{MERGE_LOCK, VmInterrupts};
use hw_arch::mmio::Mmio;
use mortise_gicd::{
    Access as GicAccess, Decision, FRAME_SIZE, Frame as GicFrame, Operation, PhysicalFrame,
    PhysicalRegister, Width,
};
use mortise_machine::{
    Core, Vm,
    interface::{Irqchip, OwnedInterrupts},
    registry,
};
use mortise_state::board::{Board, contains};
use mortise_vcpu::Access;

/// Frame of the interrupt controller at a guest's address: the redistributors are those of the VM's
/// own vCPUs, one after the other.
#[inline]
pub fn frame_at(board: &Board, vm: &Vm, address: usize) -> Option<(GicFrame, usize)> {
    if contains(address, board.gicd_base, FRAME_SIZE) {
        Some((GicFrame::Distributor, address - board.gicd_base))
    } else if registry::irqchip().is_none()
        && contains(address, board.gicr_base, vm.vcpus() * 2 * FRAME_SIZE)
    {
        Some(GicFrame::in_redistributors(address - board.gicr_base))
    } else {
        None
    }
}

/// Carries out an access to the virtual or mediated controller; returns the value of a load, or
/// nothing if the guest must repeat the access after pending interrupts are taken.
pub(crate) fn access(
    core: &'static Core,
    vm: &'static Vm,
    vcpu: usize,
    (frame, offset): (GicFrame, usize),
    access: Access,
    stored: Option<u64>,
) -> Option<u64> {
    let access = GicAccess {
        frame,
        offset,
        width: Width::from_sas(u64::from(access.width.trailing_zeros())),
        operation: stored.map_or(Operation::Read, Operation::Write),
    };
    if let Some(gic) = vm.interrupts.shared() {
        let mut physical = VmInterrupts {
            machine: core.machine,
            vm,
        };
        return gic.lock().access(vcpu, access, &mut physical);
    }
    let Some(gic) = vm.interrupts.direct() else {
        return Some(0);
    };
    let board = &core.machine.board;
    Some(match registry::irqchip() {
        Some(chip) => mediate_by(chip, board, gic, vcpu, access),
        None => mediate(board, gic, || gic.decide(access)),
    })
}

/// Carries out what the mediation of a direct VM's access to the physical GIC decided.
#[inline]
fn mediate(board: &Board, gic: &OwnedInterrupts, decide: impl FnOnce() -> Decision) -> u64 {
    match decide() {
        Decision::Value(value) => value,
        Decision::Read { at, mask, ones } => load(board, at) & mask | ones,
        Decision::ReadRoute { at, half } => {
            half.of(gic.route(physical(board, at.frame).read64(at.offset)))
        }
        Decision::Write { at, value } => {
            store(board, at, value);
            0
        }
        Decision::WriteBytes { at, mask, value } => {
            for byte in (0..4).filter(|byte| mask >> (byte * 8) & 1 != 0) {
                let at = PhysicalRegister {
                    offset: at.offset + byte,
                    width: Width::Byte,
                    ..at
                };
                store(board, at, u64::from(value >> (byte * 8) & 0xff));
            }
            0
        }
        Decision::Merge { at, mask, value } => {
            let _guard = MERGE_LOCK.lock();
            let old = load(board, at);
            store(board, at, old & !u64::from(mask) | u64::from(value & mask));
            0
        }
        Decision::Ignore => 0,
    }
}

/// Does the same for an interrupt controller other than the GICv3.
#[cold]
#[inline(never)]
fn mediate_by(
    chip: &dyn Irqchip,
    board: &Board,
    gic: &OwnedInterrupts,
    vcpu: usize,
    access: GicAccess,
) -> u64 {
    let carry = |decision| mediate(board, gic, || decision);
    chip.access(&board.gic(), gic, vcpu, access, &carry)
}

fn physical(board: &Board, frame: PhysicalFrame) -> Mmio {
    if registry::irqchip().is_some() {
        // One frame for all: private registers are those of the accessing core.
        return board.gic().distributor;
    }
    match frame {
        PhysicalFrame::Distributor => board.distributor().frame(),
        PhysicalFrame::Redistributor(cpu) => board.redistributor(cpu).control_frame(),
        PhysicalFrame::Sgi(cpu) => board.redistributor(cpu).private_frame(),
    }
}

fn load(board: &Board, register: PhysicalRegister) -> u64 {
    let frame = physical(board, register.frame);
    match register.width {
        Width::Byte => frame.read8(register.offset).into(),
        Width::Half => frame.read16(register.offset).into(),
        Width::Word => frame.read32(register.offset).into(),
        Width::Double => frame.read64(register.offset),
    }
}

fn store(board: &Board, register: PhysicalRegister, value: u64) {
    let frame = physical(board, register.frame);
    match register.width {
        Width::Byte => frame.write8(register.offset, value as u8),
        Width::Half => frame.write16(register.offset, value as u16),
        Width::Word => frame.write32(register.offset, value as u32),
        Width::Double => frame.write64(register.offset, value),
    }
}
