//! What the core of a virtual machine's first vCPU does between two runs, in short steps.
//!
//! ```text
//!        ┌─► off, stopped
//! end ───┤
//!        └─► renew ─► forget ─► load ─► the next run
//!                               ▲
//!                         first ┘
//! ```
//!
//! Megabytes are copied when a run begins, and the caches of all its memory emptied when one begins
//! again: the machine starts with its MMU off and writes past them, and a dirty line of its last run
//! would overwrite that later (Arm ARM, D7.5). Its neighbours on the core are not to wait for it, and
//! a guest can have itself restarted whenever it likes. So whoever leads it works until an interrupt
//! is pending, and goes on when nobody more urgent wants the core.
//!
//! What is written goes to the point of coherency. Each vCPU drops the instructions that its own core
//! has cached when it starts; other virtual machines' cores keep theirs.

use crate::{
    console::log_drain::conclude,
    gic::vm_interrupts::{MERGE, VmInterrupts},
    machine::{
        Core, Machine, Vm, colouring,
        log_ring::open_ring,
        restart::{NOTE, Stage},
        resumable::Step,
        vm::ENDING,
    },
};
use core::sync::atomic::Ordering;
use core_manifest::FaultPolicy;
use core_memory::PhysicalRange;
use core_statistics::State;
use hw_arch::cpu::is_interrupt_pending;
use mortise_console::Argument;
use mortise_hypercall::Start;
use mortise_psci::RunEnd;
use mortise_transfer::Transfer;
use mortise_vdev_pl011::Pl011;

/// What addresses of payloads are multiples of.
pub(crate) const CHUNK: u64 = 64;

/// Does a part of the end of a run.
fn end_by(core: &'static Core, vm: &'static Vm, end: RunEnd, part: Step) -> Stage {
    let machine = core.machine;
    let more = match part.stage {
        // Before anything is said of its end.
        0 => !conclude(machine, vm, &|| core.preemption_pending()),
        1 => {
            let part = part.resume_at(silence(vm, machine, part.number));
            return Stage::End { end, part };
        }
        2 => machine.vm_stopped(vm, part.number),
        NOTE => {
            note_end_by(vm, end);
            false
        }
        4 => {
            let wanted = core.preemption_pending();
            if !wanted {
                say_end_by(vm, end, machine);
            }
            wanted
        }
        _ => return conclude_by(machine, vm, end),
    };
    let part = part.next(more);
    Stage::End { end, part }
}

/// Has been done with the end of a run, unless another one was decided on meanwhile.
fn conclude_by(machine: &'static Machine, vm: &'static Vm, end: RunEnd) -> Stage {
    let again = begins_again(vm, end);
    let mut power = vm.power.lock();
    match power.finish_run(end, again) {
        Ok(()) if again => Stage::Renew,
        Ok(()) => {
            // With the lock held: who has it begin again counts it anew.
            vm.note_end(machine);
            Stage::Idle
        }
        Err(end) => Stage::end_instead(end),
    }
}

/// Empties the caches of some of a virtual machine's memory.
fn forget(vm: &Vm, transfer: &Transfer, part: usize, done: u64) -> Stage {
    let Some(memory) = vm.description().memory().nth(part) else {
        return Stage::LOAD;
    };
    let (place, size) = colouring::piece(memory.physical, done);
    let piece = PhysicalRange::new(place, size).unwrap_or(memory.physical);
    // SAFETY: this is the core of the transfer; the memory is a guest's, of which no vCPU runs.
    let done = done + unsafe { transfer.clean(piece, 0) };
    match done < memory.physical.size() {
        true => Stage::Forget { part, done },
        false => Stage::Forget {
            part: part + 1,
            done: 0,
        },
    }
}

/// Copies some of a virtual machine's payloads; behind the last, its run begins.
fn load(vm: &Vm, transfer: &Transfer, payload: usize, done: u64) -> Stage {
    let description = vm.description();
    let Some(found) = description.payloads.get(payload) else {
        let begun = vm.power.lock().begin_prepared(Start {
            entry: description.entry,
            argument: description.argument,
        });
        return begun.map_or_else(Stage::end_instead, |()| Stage::Idle);
    };
    let source = whole_chunks(found.source);
    let (place, size) = colouring::piece(whole_chunks(found.destination), done);
    let piece = PhysicalRange::new(source.start() + done, size).unwrap_or(source);
    // SAFETY: as above; the payload lies in the system image, where nothing writes, and the
    // manifest's parser has checked that the target lies in this VM's memory, which ends with a page
    // as the image does.
    let done = done + unsafe { transfer.copy(piece, place, 0) };
    match done < source.size() {
        true => Stage::Load { payload, done },
        false => Stage::Load {
            payload: payload + 1,
            done: 0,
        },
    }
}

/// A range with the rest of its last chunk.
fn whole_chunks(range: PhysicalRange) -> PhysicalRange {
    let size = range.size().next_multiple_of(CHUNK);
    PhysicalRange::new(range.start(), size).unwrap_or(range)
}

/// Does what there is to do until it is over or an interrupt is pending; whether it is over.
pub(crate) fn advance(core: &'static Core, vm: &'static Vm) -> bool {
    let Some(transfer) = core.transfer() else {
        return true;
    };
    let mut stage = vm.restart.0.lock();
    loop {
        if core.preemption_pending() {
            return false;
        }
        *stage = match *stage {
            Stage::Idle => return true,
            Stage::First => {
                open_log(vm);
                vm.set_state(State::Starting);
                Stage::LOAD
            }
            Stage::End { end, part } => end_by(core, vm, end, part),
            Stage::Renew => {
                renew(vm);
                Stage::FORGET
            }
            Stage::Forget { part, done } => forget(vm, transfer, part, done),
            Stage::Load { payload, done } => load(vm, transfer, payload, done),
        };
        if is_interrupt_pending() {
            return false;
        }
    }
}

/// Takes its devices back to their first state, for a start from the payload, when all it had
/// to say is on the console.
pub(crate) fn renew(vm: &Vm) {
    vm.stage2.restore();
    vm.orders.fetch_and(!ENDING, Ordering::AcqRel);
    if vm.has_serial() {
        *vm.serial.lock() = Pl011::new();
    }
    open_log(vm);
}

/// Makes its log ring, if it has one, on a core of its own.
pub(crate) fn open_log(vm: &Vm) {
    *vm.log.lock() = open_ring(vm.description(), vm.kick);
}

/// Takes its shared interrupts back to their first state, as no vCPU runs: from a part on, 0 at
/// first, until this core is wanted; which is next, nothing behind the last.
pub(crate) fn silence(vm: &'static Vm, machine: &'static Machine, part: usize) -> Option<usize> {
    if let Some(gic) = vm.interrupts.shared() {
        let core = Core::current();
        let mut physical = VmInterrupts { machine, vm };
        let mut next = Some(part);
        while let Some(part) = next {
            if core.preemption_pending() {
                return next;
            }
            next = gic.lock().reset(part, &mut physical);
        }
    } else if let Some(gic) = vm.interrupts.direct() {
        // All of it is in banks, which are where they are on a GICv2 too.
        let distributor = machine.board.distributor();
        let _guard = MERGE.lock();
        gic.shared().for_each(|intid| distributor.reset(intid));
    }
    vm.route(machine);
    None
}

/// Whether another run follows one that ends so: there is a pristine copy of what it boots from.
fn begins_again(vm: &Vm, end: RunEnd) -> bool {
    end == RunEnd::Restart && !vm.is_slot() && !vm.description().payloads.is_empty()
}

/// Takes down what it is after its run.
fn note_end_by(vm: &Vm, end: RunEnd) {
    match end {
        RunEnd::Restart if begins_again(vm, end) => {
            vm.status.count_restart();
            vm.set_state(State::Restarting);
        }
        _ if vm.is_abandoned() => vm.set_state(State::Destroyed),
        RunEnd::Restart | RunEnd::Off => vm.set_state(State::Off),
        RunEnd::Stop => vm.set_state(State::Stopped),
    }
}

/// Says on the console what becomes of it.
fn say_end_by(vm: &Vm, end: RunEnd, machine: &'static Machine) {
    let say = |text, arguments: &[Argument]| machine.report(vm.name(), text, arguments);
    match (end, vm.description().on_fault) {
        (RunEnd::Restart, _) if begins_again(vm, end) => {
            let count = Argument::Decimal(vm.summary().restarts().into());
            say(" restarts ({})", &[count]);
        }
        // What made it is not with Mortise any more; a manager may fill it anew.
        (RunEnd::Restart, _) => say(" is off: it cannot restart itself", &[]),
        (RunEnd::Off, _) => say(" is off", &[]),
        (RunEnd::Stop, FaultPolicy::Restart { limit }) => {
            let limit = Argument::Decimal(limit.into());
            say(" stays stopped: {} restarts were its limit", &[limit]);
        }
        (RunEnd::Stop, FaultPolicy::Stop) => {}
    }
}
