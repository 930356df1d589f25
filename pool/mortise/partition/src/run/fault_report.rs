//! Why a guest cannot go on.
//!
//! A virtual machine that does what it must not is stopped at once, or started anew. Why is told
//! in its status page and on the console, some ten thousand instructions, by the vCPU that did it
//! before it rests: a part at a time, so that whoever shares its core does not wait.

use crate::{
    console::log_drain::drain_ring,
    machine::{
        Core, Machine, Vm,
        fault::{DECIDE, FaultReport},
        report::flush,
    },
};
use core_statistics::FaultRegisters;
use mortise_console::{Argument, Words};

/// General registers that a part tells the status page.
const REGISTERS: usize = 8;

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

fn say_row(machine: &'static Machine, vm: &Vm, row: &'static str, values: &[u64]) {
    let mut digits = [Argument::Digits(0); 4];
    for (digits, value) in digits.iter_mut().zip(values) {
        *digits = Argument::Digits(*value);
    }
    machine.report(vm.name(), row, &digits);
}

/// Tells the next part of why a vCPU, whose general registers these are, cannot go on, if that
/// is so; whether there is more to tell.
pub(crate) fn explain(core: &'static Core, vm: &'static Vm, vcpu: usize, x: &[u64; 31]) -> bool {
    let mut told = vm.fault.lock();
    let Some(report) = told.as_mut().filter(|report| report.vcpu == vcpu) else {
        return false;
    };
    let more = go_on(report, core, vm, x);
    if !more {
        *told = None;
    }
    more
}

/// Does the next part, or more of it; whether there is more.
fn go_on(report: &mut FaultReport, core: &'static Core, vm: &'static Vm, x: &[u64; 31]) -> bool {
    let stop = || core.preemption_pending();
    match report.part {
        DECIDE => match vm.fail(report.vcpu) {
            Some(calls) => report.calls = calls,
            // Its end was decided already.
            None => return false,
        },
        WITHDRAW => vm.end_in_memory(),
        CALL => vm.call(report.calls, core.machine),
        part if part < TEXT => note_registers(report, vm, x, (part - NOTE) * REGISTERS),
        part if part < REASON => {
            if !note_words(report, vm, part - TEXT, &stop) {
                return true;
            }
        }
        REASON => {
            vm.status.set_fault(report.vcpu, &report.registers);
            vm.status.set_reason(report.fault.reason);
        }
        LAST_WORDS => {
            // They came before its end.
            if !drain_ring(core.machine, vm, &stop) {
                return true;
            }
        }
        // One line after the other, so that none is lost.
        _ if !flush(core.machine, &stop) || stop() => return true,
        LINE if !report_cause(report, core.machine, vm, &stop) => return true,
        LINE => {}
        CAUSE => say_registers(report, core.machine, vm),
        // The time that the rest takes is others' as well; it is in the status page.
        _ if core.dispatcher().is_some() => return false,
        part => match (ROW.get(part - ROWS), x.chunks(4).nth(part - ROWS)) {
            (Some(row), Some(values)) => say_row(core.machine, vm, row, values),
            _ => return false,
        },
    }
    report.part += 1;
    true
}

fn note_registers(_report: &FaultReport, vm: &Vm, x: &[u64; 31], first: usize) {
    for (register, value) in x.iter().enumerate().skip(first).take(REGISTERS) {
        vm.status.set_register(register, *value);
    }
}

/// Tells the status page eight bytes of why, which take some 40 instructions each, unless `stop`
/// says so before; whether they are told.
fn note_words(report: &mut FaultReport, vm: &Vm, part: usize, stop: &dyn Fn() -> bool) -> bool {
    let words = Words {
        text: "{}{}{}",
        arguments: &report.fault.arguments(),
    };
    while let Some(place) = report.word.get_mut(report.bytes) {
        if stop() {
            return false;
        }
        if let Some(byte) = words.step(&mut report.cursor).unwrap_or(Some(0)) {
            *place = byte;
            report.bytes += 1;
        }
    }
    report.bytes = 0;
    vm.status.set_reason_words(part, report.word);
    true
}

/// Says what was done, unless `stop` says so before; whether it is said.
fn report_cause(
    report: &FaultReport,
    machine: &'static Machine,
    vm: &Vm,
    stop: &dyn Fn() -> bool,
) -> bool {
    let [what, at, access] = report.fault.arguments();
    let vcpu = Argument::Decimal(report.vcpu as u64);
    let arguments = [what, at, access, vcpu];
    // To keep it is a section of its own.
    let stopped = stop();
    if !stopped {
        machine.report(vm.name(), " stopped: {}{}{} on vCPU {}", &arguments);
    }
    !stopped
}

fn say_registers(report: &FaultReport, machine: &'static Machine, vm: &Vm) {
    let FaultRegisters { esr, far, elr, .. } = report.registers;
    let arguments = [esr, far, elr].map(Argument::Hexadecimal);
    machine.report(vm.name(), " esr={} far={} elr={}", &arguments);
}
