//! Why a guest cannot go on.
//!
//! A virtual machine that does what it must not is stopped at once, or started anew. Why is told
//! in its status page and on the console, some ten thousand instructions, by the vCPU that did it
//! before it rests: a part at a time, so that whoever shares its core does not wait.

use crate::{
    console::flush,
    log_drain::drain_ring,
    machine::{Core, Machine},
    vm::{ENDING, Vm},
};
use core::sync::atomic::Ordering;
use core_statistics::{FaultRegisters, Reason};
use hw_arch::{El2, ExceptionLevel, registers::hpfar_el2};
use mortise_console::{Argument, Cursor, Words};
use mortise_psci::VcpuSet;

/// What a virtual CPU did.
#[derive(Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) reason: Reason,
    /// Whether it was a store, if it was a store or a load.
    pub(crate) write: Option<bool>,
    /// Where, as the guest numbers it.
    pub(crate) at: Option<u64>,
}

impl Fault {
    /// It raised an SError.
    pub(crate) const SYSTEM_ERROR: Self = Self {
        reason: Reason::SystemError,
        write: None,
        at: None,
    };

    /// What stands in a text that says what it did.
    fn arguments(&self) -> [Argument; 3] {
        let what = match (self.reason, self.at) {
            (Reason::InstructionAbort, None) => &"instruction abort",
            (Reason::InstructionAbort, Some(_)) => &"instruction abort at ",
            (Reason::SystemError, _) => &"system error (SError)",
            (_, None) => &"data abort",
            (_, Some(_)) => &"data abort at ",
        };
        let at = self.at.map_or(Argument::Text(&""), Argument::Hexadecimal);
        let access = match self.write {
            Some(true) => &" (write)",
            Some(false) => &" (read)",
            None => &"",
        };
        [Argument::Text(what), at, Argument::Text(access)]
    }
}

/// A fault that is not told yet.
pub(crate) struct FaultReport {
    vcpu: usize,
    fault: Fault,
    registers: FaultRegisters,
    /// The vCPUs whose cores are to be called, as the run ends.
    calls: VcpuSet,
    /// The part that is next, and how much of its words are told.
    part: usize,
    cursor: Cursor,
    /// The word for the status page that is put together, and how many bytes of it are.
    word: [u8; 8],
    bytes: usize,
}

/// General registers that a part tells the status page.
const REGISTERS: usize = 8;

/// The first parts: its run is ended, its memory withdrawn, and the cores of its other vCPUs are called.
const DECIDE: usize = 0;
const WITHDRAW: usize = 1;
const CALL: usize = 2;
const NOTE: usize = 3;

/// Resources before which something else is told.
const TEXT: usize = NOTE + 4;
const REASON: usize = TEXT + core_statistics::REASON_WORDS;
const LAST_WORDS: usize = REASON + 1;
const LINE: usize = LAST_WORDS + 1;
const CAUSE: usize = LINE + 1;
const ROWS: usize = CAUSE + 1;

/// The general registers as the console tells them.
const ROW: [&str; 8] = [
    " x0 ={} x1 ={} x2 ={} x3 ={}",
    " x4 ={} x5 ={} x6 ={} x7 ={}",
    " x8 ={} x9 ={} x10={} x11={}",
    " x12={} x13={} x14={} x15={}",
    " x16={} x17={} x18={} x19={}",
    " x20={} x21={} x22={} x23={}",
    " x24={} x25={} x26={} x27={}",
    " x28={} x29={} x30={}",
];

impl Vm {
    /// Notes that vCPU `vcpu`, whose exit this is, cannot go on: it ends the run before it rests.
    pub(crate) fn stop_for(&'static self, vcpu: usize, fault: Fault) {
        // Of several vCPUs that fault at once, the first one is the reason.
        self.fault.lock().get_or_insert_with(|| FaultReport {
            vcpu,
            fault,
            registers: FaultRegisters {
                esr: El2::read_esr(),
                far: El2::read_far(),
                hpfar: hpfar_el2::read(),
                elr: El2::read_elr(),
                spsr: El2::read_spsr(),
            },
            calls: VcpuSet::NONE,
            part: DECIDE,
            cursor: Cursor::START,
            word: [0; 8],
            bytes: 0,
        });
        self.orders.fetch_or(ENDING, Ordering::AcqRel);
    }
}

impl Core {
    /// Tells the next part of why a vCPU, whose general registers these are, cannot go on, if that
    /// is so; whether there is more to tell.
    pub(crate) fn explain(&'static self, vm: &'static Vm, vcpu: usize, x: &[u64; 31]) -> bool {
        let mut told = vm.fault.lock();
        let Some(report) = told.as_mut().filter(|report| report.vcpu == vcpu) else {
            return false;
        };
        let more = report.go_on(self, vm, x);
        if !more {
            *told = None;
        }
        more
    }
}

impl FaultReport {
    /// Does the next part, or more of it; whether there is more.
    fn go_on(&mut self, core: &'static Core, vm: &'static Vm, x: &[u64; 31]) -> bool {
        let stop = || core.preemption_pending();
        match self.part {
            DECIDE => match vm.fail(self.vcpu) {
                Some(calls) => self.calls = calls,
                // Its end was decided already.
                None => return false,
            },
            WITHDRAW => vm.end_in_memory(),
            CALL => vm.call(self.calls, core.machine),
            part if part < TEXT => self.note_registers(vm, x, (part - NOTE) * REGISTERS),
            part if part < REASON => {
                if !self.note_words(vm, part - TEXT, &stop) {
                    return true;
                }
            }
            REASON => {
                vm.status.set_fault(self.vcpu, &self.registers);
                vm.status.set_reason(self.fault.reason);
            }
            LAST_WORDS => {
                // They came before its end.
                if !drain_ring(core.machine, vm, &stop) {
                    return true;
                }
            }
            // One line after the other, so that none is lost.
            _ if !flush(core.machine, &stop) || stop() => return true,
            LINE if !self.report_cause(core.machine, vm, &stop) => return true,
            LINE => {}
            CAUSE => self.say_registers(core.machine, vm),
            // The time that the rest takes is others' as well; it is in the status page.
            _ if core.dispatcher().is_some() => return false,
            part => match (ROW.get(part - ROWS), x.chunks(4).nth(part - ROWS)) {
                (Some(row), Some(values)) => say_row(core.machine, vm, row, values),
                _ => return false,
            },
        }
        self.part += 1;
        true
    }

    fn note_registers(&self, vm: &Vm, x: &[u64; 31], first: usize) {
        for (register, value) in x.iter().enumerate().skip(first).take(REGISTERS) {
            vm.status.set_register(register, *value);
        }
    }

    /// Tells the status page eight bytes of why, which take some 40 instructions each, unless `stop`
    /// says so before; whether they are told.
    fn note_words(&mut self, vm: &Vm, part: usize, stop: &dyn Fn() -> bool) -> bool {
        let words = Words {
            text: "{}{}{}",
            arguments: &self.fault.arguments(),
        };
        while let Some(place) = self.word.get_mut(self.bytes) {
            if stop() {
                return false;
            }
            if let Some(byte) = words.step(&mut self.cursor).unwrap_or(Some(0)) {
                *place = byte;
                self.bytes += 1;
            }
        }
        self.bytes = 0;
        vm.status.set_reason_words(part, self.word);
        true
    }

    /// Says what was done, unless `stop` says so before; whether it is said.
    fn report_cause(&self, machine: &'static Machine, vm: &Vm, stop: &dyn Fn() -> bool) -> bool {
        let [what, at, access] = self.fault.arguments();
        let vcpu = Argument::Decimal(self.vcpu as u64);
        let arguments = [what, at, access, vcpu];
        // To keep it is a section of its own.
        let stopped = stop();
        if !stopped {
            machine.report(vm.name(), " stopped: {}{}{} on vCPU {}", &arguments);
        }
        !stopped
    }

    fn say_registers(&self, machine: &'static Machine, vm: &Vm) {
        let FaultRegisters { esr, far, elr, .. } = self.registers;
        let arguments = [esr, far, elr].map(Argument::Hexadecimal);
        machine.report(vm.name(), " esr={} far={} elr={}", &arguments);
    }
}

fn say_row(machine: &'static Machine, vm: &Vm, row: &'static str, values: &[u64]) {
    let mut digits = [Argument::Digits(0); 4];
    for (digits, value) in digits.iter_mut().zip(values) {
        *digits = Argument::Digits(*value);
    }
    machine.report(vm.name(), row, &digits);
}
