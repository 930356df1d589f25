//! Report of a guest's fault.
//!
//! A VM that faults is stopped at once, or restarted. The reason goes to the status page and to the
//! console, in some ten thousand instructions, by the faulting vCPU before it stops: one part at a
//! time, so that the guests of a shared core are not delayed.

use crate::log_drain::drain_ring;
use core_statistics::FaultRegisters;
use mortise_console::{Argument, Words};
use mortise_machine::{Core, Machine, Vm, report::flush};
use mortise_state::fault::{DECIDE, FaultReport};

/// General registers that one part writes to the status page.
const REGISTERS: usize = 8;

const WITHDRAW: usize = 1;
const KICK: usize = 2;
const NOTE: usize = 3;

/// Parts of the report, by their first number.
const TEXT: usize = NOTE + 4;
const REASON: usize = TEXT + core_statistics::REASON_WORDS;
const GUEST_OUTPUT: usize = REASON + 1;
const LINE: usize = GUEST_OUTPUT + 1;
const CAUSE: usize = LINE + 1;
const ROWS: usize = CAUSE + 1;

/// Lines of the general registers on the console.
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

fn print_row(machine: &'static Machine, vm: &Vm, row: &'static str, values: &[u64]) {
    let mut digits = [Argument::Digits(0); 4];
    for (digits, value) in digits.iter_mut().zip(values) {
        *digits = Argument::Digits(*value);
    }
    machine.report(vm.name(), row, &digits);
}

/// Writes the next part of the report of a vCPU with the general registers `x`, if it faulted;
/// returns whether more follow.
pub fn report_fault(core: &'static Core, vm: &'static Vm, vcpu: usize, x: &[u64; 31]) -> bool {
    let mut fault = vm.fault.lock();
    let Some(report) = fault.as_mut().filter(|report| report.vcpu == vcpu) else {
        return false;
    };
    let more = continue_report(report, core, vm, x);
    if !more {
        *fault = None;
    }
    more
}

/// Does the next part of a report, or continues it; returns whether more follow.
fn continue_report(
    report: &mut FaultReport,
    core: &'static Core,
    vm: &'static Vm,
    x: &[u64; 31],
) -> bool {
    let stop = || core.preemption_pending();
    match report.part {
        DECIDE => match vm.fail(report.vcpu) {
            Some(kicks) => report.kicks = kicks,
            // The end of the run was decided before.
            None => return false,
        },
        WITHDRAW => vm.mark_ending(),
        KICK => vm.kick_cores(report.kicks, core.machine),
        part if part < TEXT => write_registers(vm, x, (part - NOTE) * REGISTERS),
        part if part < REASON => {
            if !write_reason(report, vm, part - TEXT, &stop) {
                return true;
            }
        }
        REASON => {
            vm.status.set_fault(report.vcpu, &report.registers);
            vm.status.set_reason(report.fault.reason);
        }
        GUEST_OUTPUT => {
            // Output of the guest before its fault.
            if !drain_ring(core.machine, vm, &stop) {
                return true;
            }
        }
        // One line after the other, so that none is lost.
        _ if !flush(core.machine, &stop) || stop() => return true,
        LINE if !report_cause(report, core, vm) => return true,
        LINE => {}
        CAUSE => print_registers(report, core.machine, vm),
        // On a shared core the registers are not printed, as that delays others; the status page
        // has them.
        _ if core.dispatcher().is_some() => return false,
        part => match (ROW.get(part - ROWS), x.chunks(4).nth(part - ROWS)) {
            (Some(row), Some(values)) => print_row(core.machine, vm, row, values),
            _ => return false,
        },
    }
    report.part += 1;
    true
}

fn write_registers(vm: &Vm, x: &[u64; 31], first: usize) {
    for (register, value) in x.iter().enumerate().skip(first).take(REGISTERS) {
        vm.status.set_register(register, *value);
    }
}

/// Writes eight bytes of the reason to the status page, some 40 instructions each, unless `stop`
/// returns true before; returns whether they are written.
fn write_reason(report: &mut FaultReport, vm: &Vm, part: usize, stop: &dyn Fn() -> bool) -> bool {
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

/// Prints the fault unless preemption is pending; returns whether it is printed.
fn report_cause(report: &FaultReport, core: &'static Core, vm: &Vm) -> bool {
    let [what, at, access] = report.fault.arguments();
    let vcpu = Argument::Decimal(report.vcpu as u64);
    let arguments = [what, at, access, vcpu];
    // To store the line is a masked section of its own.
    let stopped = core.preemption_pending();
    if !stopped {
        core.machine
            .report(vm.name(), " stopped: {}{}{} on vCPU {}", &arguments);
    }
    !stopped
}

#[inline(always)]
fn print_registers(report: &FaultReport, machine: &'static Machine, vm: &Vm) {
    let FaultRegisters { esr, far, elr, .. } = report.registers;
    let arguments = [esr, far, elr].map(Argument::Hexadecimal);
    machine.report(vm.name(), " esr={} far={} elr={}", &arguments);
}
