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
    colouring,
    log_drain::{conclude, open_ring},
    machine::{Core, Machine},
    physical_gic::{MERGE, VmInterrupts},
    resumable::Step,
    vm::{ENDING, Vm},
};
use core::sync::atomic::Ordering;
use core_manifest::FaultPolicy;
use core_memory::PhysicalRange;
use core_statistics::State;
use core_sync::TicketLock;
use hw_arch::cpu::is_interrupt_pending;
use mortise_console::Argument;
use mortise_hypercall::Start;
use mortise_psci::RunEnd;
use mortise_transfer::Transfer;
use mortise_vdev_pl011::Pl011;

/// What addresses of payloads are multiples of.
pub(crate) const CHUNK: u64 = 64;

/// What is done next.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Nothing.
    Idle,
    /// The first run is begun.
    First,
    /// A run is ended, as was decided.
    End { end: RunEnd, part: Step },
    /// Its devices are taken back to their first state, for another run.
    Renew,
    /// The caches of a part of its memory are emptied, from this byte on.
    Forget { part: usize, done: u64 },
    /// A payload is copied, from this byte on.
    Load { payload: usize, done: u64 },
}

impl Stage {
    const FORGET: Self = Self::Forget { part: 0, done: 0 };
    const LOAD: Self = Self::Load {
        payload: 0,
        done: 0,
    };

    /// An end that somebody decided on when nothing was left of a run, from where it is noted.
    const fn end_instead(end: RunEnd) -> Self {
        let part = Step {
            stage: NOTE,
            number: 0,
        };
        Self::End { end, part }
    }
}

/// The stage of an end in which it is noted.
const NOTE: usize = 3;

/// How far the leader is. Only its core works on it.
pub(crate) struct RestartSequence(TicketLock<Stage>);

impl RestartSequence {
    /// Nothing is to be done.
    pub(crate) const fn idle() -> Self {
        Self(TicketLock::new(Stage::Idle))
    }

    /// The first run is to begin.
    pub(crate) const fn first() -> Self {
        Self(TicketLock::new(Stage::First))
    }

    /// Has a run ended whose vCPUs all rest.
    pub(crate) fn end(&self, end: RunEnd) {
        let part = Step::FIRST;
        *self.0.lock() = Stage::End { end, part };
    }

    /// Has nothing done: another one lives there.
    pub(crate) fn clear(&self) {
        *self.0.lock() = Stage::Idle;
    }

    /// Does what there is to do until it is over or an interrupt is pending; whether it is over.
    pub(crate) fn advance(&self, core: &'static Core, vm: &'static Vm) -> bool {
        let Some(transfer) = core.transfer() else {
            return true;
        };
        let mut stage = self.0.lock();
        loop {
            if core.preemption_pending() {
                return false;
            }
            *stage = match *stage {
                Stage::Idle => return true,
                Stage::First => {
                    vm.open_log();
                    vm.set_state(State::Starting);
                    Stage::LOAD
                }
                Stage::End { end, part } => end_by(core, vm, end, part),
                Stage::Renew => {
                    vm.renew();
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
}

/// Does a part of the end of a run.
fn end_by(core: &'static Core, vm: &'static Vm, end: RunEnd, part: Step) -> Stage {
    let machine = core.machine;
    let more = match part.stage {
        // Before anything is said of its end.
        0 => !conclude(machine, vm, &|| core.preemption_pending()),
        1 => {
            let part = part.resume_at(vm.silence(machine, part.number));
            return Stage::End { end, part };
        }
        2 => machine.vm_stopped(vm, part.number),
        NOTE => {
            vm.note_end_by(end);
            false
        }
        4 => {
            let wanted = core.preemption_pending();
            if !wanted {
                vm.say_end_by(end, machine);
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
    let again = vm.begins_again(end);
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

impl Vm {
    /// Takes its devices back to their first state, for a start from the payload, when all it had
    /// to say is on the console.
    pub(crate) fn renew(&self) {
        self.stage2.restore();
        self.orders.fetch_and(!ENDING, Ordering::AcqRel);
        if self.has_serial() {
            *self.serial.lock() = Pl011::new();
        }
        self.open_log();
    }

    /// Makes its log ring, if it has one, on a core of its own.
    pub(crate) fn open_log(&self) {
        *self.log.lock() = open_ring(self.description(), self.kick);
    }

    /// Takes its shared interrupts back to their first state, as no vCPU runs: from a part on, 0 at
    /// first, until this core is wanted; which is next, nothing behind the last.
    pub(crate) fn silence(&'static self, machine: &'static Machine, part: usize) -> Option<usize> {
        if let Some(gic) = self.interrupts.shared() {
            let core = Core::current();
            let mut physical = VmInterrupts { machine, vm: self };
            let mut next = Some(part);
            while let Some(part) = next {
                if core.preemption_pending() {
                    return next;
                }
                next = gic.lock().reset(part, &mut physical);
            }
        } else if let Some(gic) = self.interrupts.direct() {
            // All of it is in banks, which are where they are on a GICv2 too.
            let distributor = machine.board.distributor();
            let _guard = MERGE.lock();
            gic.shared().for_each(|intid| distributor.reset(intid));
        }
        self.route(machine);
        None
    }

    /// Whether another run follows one that ends so: there is a pristine copy of what it boots from.
    fn begins_again(&self, end: RunEnd) -> bool {
        end == RunEnd::Restart && !self.is_slot() && !self.description().payloads.is_empty()
    }

    /// Takes down what it is after its run.
    fn note_end_by(&self, end: RunEnd) {
        match end {
            RunEnd::Restart if self.begins_again(end) => {
                self.status.count_restart();
                self.set_state(State::Restarting);
            }
            _ if self.is_abandoned() => self.set_state(State::Destroyed),
            RunEnd::Restart | RunEnd::Off => self.set_state(State::Off),
            RunEnd::Stop => self.set_state(State::Stopped),
        }
    }

    /// Says on the console what becomes of it.
    fn say_end_by(&self, end: RunEnd, machine: &'static Machine) {
        let say = |text, arguments: &[Argument]| machine.report(self.name(), text, arguments);
        match (end, self.description().on_fault) {
            (RunEnd::Restart, _) if self.begins_again(end) => {
                let count = Argument::Decimal(self.summary().restarts().into());
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
