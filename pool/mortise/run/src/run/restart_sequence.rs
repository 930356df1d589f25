//! Restart sequence of a VM, on the core of its first vCPU, in bounded steps.
//!
//! ```text
//!        ┌─► off, stopped
//! end ───┤
//!        └─► reset ─► plan ◄─► write
//!                      ▲ └─► the next run
//!                first ┘
//! ```
//!
//! Megabytes are written when a run starts. Before the first run the memory outside the payloads is
//! filled with zeros: it may hold what was there before the machine was reset. Before another run it
//! is cleaned from the caches: the guest starts with its MMU off and bypasses them, and a dirty line
//! of its last run would later overwrite what it writes (Arm ARM, D7.5). The guests that share the core must not be delayed
//! by this, and a guest can restart itself at any time. The sequence therefore runs until an interrupt
//! is pending, and continues when no more urgent vCPU needs the core.
//!
//! Memory is written to the point of coherency. Each vCPU invalidates the instruction cache of its own
//! core when it starts; the caches of other VMs' cores are not affected.

use crate::gic::reset::reset_spis;
use core::sync::atomic::Ordering;
use core_manifest::FaultPolicy;
use core_memory::PhysicalRange;
use core_statistics::State;
use hw_arch::cpu::is_interrupt_pending;
use mortise_console::Argument;
use mortise_hypercall::Start;
use mortise_machine::{Core, Machine, Vm, colouring, vm::ENDING};
use mortise_output::log_drain::flush_log;
use mortise_psci::RunEnd;
use mortise_state::{
    log_ring::create_log_ring,
    restart::{Piece, Progress, RECORD_END, Stage},
    resumable::Step,
};
use mortise_transfer::Transfer;
use mortise_vdev_pl011::Pl011;

/// Alignment of payloads, in bytes.
pub const CHUNK: u64 = 64;

/// Does one step of the end of a run.
fn end_step(core: &'static Core, vm: &'static Vm, end: RunEnd, step: Step) -> Stage {
    let machine = core.machine;
    let more = match step.stage {
        // The log ring is written, before the end is reported.
        0 => !flush_log(machine, vm, &|| core.preemption_pending()),
        // The SPIs are reset.
        1 => {
            let step = step.resume_at(reset_spis(vm, machine, step.number));
            return Stage::End { end, step };
        }
        // VM extensions and devices end what they do for the VM.
        2 => machine.vm_stopped(vm, step.number),
        RECORD_END => {
            record_end(vm, end);
            false
        }
        // The end is reported on the console.
        4 => {
            let pending = core.preemption_pending();
            if !pending {
                report_end(vm, end, machine);
            }
            pending
        }
        _ => return conclude_end(machine, vm, end),
    };
    let step = step.next(more);
    Stage::End { end, step }
}

/// Concludes the end of a run, unless another end was decided meanwhile.
fn conclude_end(machine: &'static Machine, vm: &'static Vm, end: RunEnd) -> Stage {
    let restart = runs_again(vm, end);
    let mut power = vm.power.lock();
    match power.finish_run(end, restart) {
        Ok(()) if restart => Stage::Reset,
        Ok(()) => {
            // Under the lock: a manager that starts the VM again counts it again.
            vm.count_ended(machine);
            Stage::Idle
        }
        Err(end) => Stage::end_before_start(end),
    }
}

/// Plans the next piece of a VM's memory: a payload, or what lies before the next one. After the
/// last piece the run starts.
fn plan(vm: &Vm, mut progress: Progress) -> Stage {
    let description = vm.description();
    let Some(memory) = description.own(progress.first).nth(progress.part) else {
        create_log(vm);
        let begun = vm.power.lock().begin_prepared(Start {
            entry: description.entry,
            argument: description.argument,
        });
        return begun.map_or_else(Stage::end_before_start, |()| Stage::Idle);
    };
    let at = memory.physical.start() + progress.done;
    let (mut end, mut source) = (memory.physical.end(), None);
    for payload in &description.payloads {
        let start = payload.destination.start();
        let behind = start + payload.source.size().next_multiple_of(CHUNK);
        if (start..behind).contains(&at) {
            (end, source) = (behind, Some(payload.source.start() + at - start));
        } else if start > at {
            end = end.min(start);
        }
    }
    let Some(target) = PhysicalRange::new(at, end - at).filter(|_| end > at) else {
        (progress.part, progress.done) = (progress.part + 1, 0);
        return Stage::Plan(progress);
    };
    progress.done += target.size();
    Stage::Write(progress, Piece { target, source }, 0)
}

/// Writes a piece of a VM's memory: copies a payload, and fills the rest with zeros for the first run
/// or cleans it from the caches for another one.
fn write(transfer: &Transfer, progress: Progress, piece: Piece, done: u64) -> Stage {
    let (place, size) = colouring::piece(piece.target, done);
    let target = PhysicalRange::new(place, size).unwrap_or(piece.target);
    // SAFETY: the windows are those of the executing core, and the memory belongs to a VM of which
    // no vCPU runs. A payload is in the system image, which is never written, and the parser of the
    // manifest has checked that it fits into this memory, which ends at a page boundary as the
    // image does.
    let more = unsafe {
        match (piece.source, progress.first) {
            (Some(source), _) if source == piece.target.start() => size,
            (Some(source), _) => {
                let source = PhysicalRange::new(source + done, size).unwrap_or(target);
                transfer.copy(source, place, 0)
            }
            (None, true) => transfer.zero(target, 0),
            (None, false) => transfer.clean(target, 0),
        }
    };
    match done + more < piece.target.size() {
        true => Stage::Write(progress, piece, done + more),
        false => Stage::Plan(progress),
    }
}

/// Continues the sequence until it is complete or an interrupt is pending; returns whether it is
/// complete.
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
                vm.set_state(State::Starting);
                Stage::write(true)
            }
            Stage::End { end, step } => end_step(core, vm, end, step),
            Stage::Reset => {
                reset_devices(vm);
                Stage::write(false)
            }
            Stage::Plan(progress) => plan(vm, progress),
            Stage::Write(progress, piece, done) => write(transfer, progress, piece, done),
        };
        if is_interrupt_pending() {
            return false;
        }
    }
}

/// Restores stage 2, lifts the mark of the end and resets the PL011, after all output is printed.
pub(crate) fn reset_devices(vm: &Vm) {
    vm.stage2.restore();
    vm.orders.fetch_and(!ENDING, Ordering::AcqRel);
    if vm.has_serial() {
        *vm.serial.lock() = Pl011::new();
    }
}

/// Creates the log ring, on a core of the VM.
pub(crate) fn create_log(vm: &Vm) {
    // SAFETY: the VM's cores and the console's map its log ring.
    *vm.log.lock() = unsafe { create_log_ring(vm.description(), vm.kick) };
}

/// Whether another run follows an end: the payload must be pristine.
fn runs_again(vm: &Vm, end: RunEnd) -> bool {
    let mut copied = vm.description().payloads.iter();
    end == RunEnd::Restart && !vm.is_slot() && copied.any(|payload| !payload.is_in_place())
}

/// Records the VM's state after its run.
fn record_end(vm: &Vm, end: RunEnd) {
    match end {
        RunEnd::Restart if runs_again(vm, end) => {
            vm.status.count_restart();
            vm.set_state(State::Restarting);
        }
        _ if vm.is_abandoned() => vm.set_state(State::Destroyed),
        RunEnd::Restart | RunEnd::Off => vm.set_state(State::Off),
        RunEnd::Fault => vm.set_state(State::Stopped),
    }
}

/// Reports the end on the console.
fn report_end(vm: &Vm, end: RunEnd, machine: &'static Machine) {
    let say = |text, arguments: &[Argument]| machine.report(vm.name(), text, arguments);
    match (end, vm.description().on_fault) {
        (RunEnd::Restart, _) if runs_again(vm, end) => {
            let count = Argument::Decimal(vm.summary().restarts().into());
            say(" restarts ({})", &[count]);
        }
        // Only a manager runs an instance again: it fills the memory, or has a template's filled.
        (RunEnd::Restart, _) => say(" is off: it cannot restart itself", &[]),
        (RunEnd::Off, _) => say(" is off", &[]),
        (RunEnd::Fault, FaultPolicy::Restart { limit }) => {
            let limit = Argument::Decimal(limit.into());
            say(" stays stopped: {} restarts were its limit", &[limit]);
        }
        (RunEnd::Fault, FaultPolicy::Stop | FaultPolicy::Inject) => {}
    }
}
