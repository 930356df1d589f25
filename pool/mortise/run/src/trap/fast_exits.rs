//! Fast paths for the most frequent exits of a pinned vCPU.
//!
//! Each has the same effect as the slow path ([`exits`](super::exits)), which handles everything
//! else, with one check instead of several: accesses to enable bits of the distributor that change
//! nothing, SGIs of a vCPU to itself, and brief hypercalls. Orders to the VM are not checked, as an
//! order pends the doorbell.

use crate::gic::sgi::send_to_self;
use core_statistics::ExitKind;
use hw_arch::mmio::Mmio;
use mortise_gicd::{EnableRegister, SgiRequest};
use mortise_machine::{Core, Vm, registry, trace};
use mortise_vcpu::{ExitClass, Frame, enter, skip_word, word_access_ipa};

const HYPERCALL: usize = ExitKind::Hypercall as usize;
const MMIO: usize = ExitKind::Mmio as usize;
const SYSTEM_REGISTER: usize = ExitKind::SystemRegister as usize;

/// Handles a synchronous exit other than a hypercall, with x19 to x29 unchanged; returns false,
/// without effect, if there is no fast path for it.
#[inline(always)]
pub(crate) fn exit(core: &'static Core, vm: &'static Vm, vcpu: usize, frame: &mut Frame) -> bool {
    // With a trace, the slow path records the events.
    if trace::recorded() {
        return false;
    }
    match ExitClass::last() {
        Some(ExitClass::WordAccess { register, write }) => word(core, vm, frame, register, write),
        Some(ExitClass::SgiWrite { register }) => {
            let request = SgiRequest::new(frame.register(register));
            request.is_to(vcpu) && sgi(core, vm, vcpu, request.intid())
        }
        None => false,
    }
}

/// Answers a hypercall that has a fast path.
#[inline(always)]
pub(crate) fn call(core: &Core, frame: &mut Frame) -> bool {
    if trace::recorded() {
        return false;
    }
    let [x0, x1, ..] = frame.x;
    let groups = registry::hypercalls().iter();
    let mut brief = groups.filter_map(|group| group.brief);
    let found = brief.find(|brief| brief.function == x0 as u32);
    let answer = found.and_then(|brief| (brief.answer)(x1));
    if let Some(value) = answer {
        frame.x[0] = value;
        frame.x[1..4].fill(0);
        core.pinned.count::<HYPERCALL>();
    }
    answer.is_some()
}

/// Sends the vCPU a Group 1 SGI that it requested for itself.
#[inline(always)]
fn sgi(core: &'static Core, vm: &'static Vm, vcpu: usize, intid: u32) -> bool {
    let sent = send_to_self(core, vm, vcpu, intid);
    if sent {
        core.pinned.count::<SYSTEM_REGISTER>();
        skip_word();
    }
    sent
}

/// Carries out a 32-bit access of general register `number` to enable bits of the distributor, if
/// nothing follows from it.
#[inline(always)]
fn word(core: &'static Core, vm: &'static Vm, frame: &mut Frame, number: u8, write: bool) -> bool {
    let base = core.distributor as u64;
    let offset = word_access_ipa().wrapping_sub(base) as usize;
    let Some(EnableRegister { row, sets }) = EnableRegister::at(offset) else {
        return false;
    };
    let owned = || vm.interrupts.direct().map_or(0, |gic| gic.owned_word(row));
    if write {
        let value = frame.register(number) as u32;
        let done = match vm.interrupts.shared() {
            Some(gic) => gic.lock().is_noop_write(row, sets, value),
            // Zeros have no effect.
            None => {
                let value = value & owned();
                if value != 0 {
                    distributor(core).write32(offset, value);
                }
                true
            }
        };
        if done {
            finish(core);
        }
        return done;
    }
    let value = match vm.interrupts.shared() {
        Some(gic) => gic.lock().enabled_word(row),
        None => match owned() {
            0 => 0,
            owned => distributor(core).read32(offset) & owned,
        },
    };
    finish(core);
    frame.set_register(number, value.into());
    if Frame::is_callee_saved(number) {
        core.check_entry();
        // SAFETY: the frame is that of the pinned vCPU that exited, and nothing on this core's
        // stack is needed after the entry.
        unsafe { enter(&core.pinned.frame) }
    }
    true
}

#[inline(always)]
fn finish(core: &Core) {
    core.pinned.count::<MMIO>();
    skip_word();
}

#[inline(always)]
fn distributor(core: &Core) -> Mmio {
    core.machine.board.distributor().frame()
}
