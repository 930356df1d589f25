//! Trace of a core.
//!
//! With MORTISE_TRACE each core writes events into a ring (`core_trace`), which `./tenon run
//! --trace FILE` turns into a timeline together with the traces of Tenon: all use the same counter,
//! as `CNTVOFF_EL2` is zero. Without it, a constant of the link, no instruction is left.

use crate::{Core, vm::Vm};
use core::fmt::Write;
use core_trace::Event;
use hw_arch::{El2, ExceptionLevel};
use mortise_vcpu::Cause;

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `image!` defines it with this type, and it is never written.
    safe static MORTISE_TRACE: bool;
}

/// Whether events are recorded.
#[inline(always)]
pub fn recorded() -> bool {
    #[cfg(target_os = "none")]
    return MORTISE_TRACE;
    #[cfg(not(target_os = "none"))]
    return false;
}

/// Trace subject of a vCPU.
const fn subject(vm: &Vm, vcpu: usize) -> u64 {
    (vm.index as u64 + 1) << 8 | vcpu as u64
}

/// Shift of the exception class in `ESR_EL2` (Arm ARM, D19.2.37).
const CLASS: u32 = 26;

/// Events of a core. All methods are called on that core, with interrupts masked.
impl Core {
    /// Starts the core's trace.
    pub fn start_trace(&self) {
        if recorded()
            && let Some(ring) = self.machine.rings.get(self.cpu)
        {
            let hertz = self.clock().frequency().hertz();
            self.trace.start(ring, self.cpu as u32, hertz.into());
            let mut name = heapless::String::<16>::new();
            let _ = write!(name, "idle {}", self.cpu);
            self.trace.name(self.idle_subject(), &name);
        }
    }

    /// Trace subject of the idle core.
    const fn idle_subject(&self) -> u64 {
        self.cpu as u64 + 1
    }

    /// Records an event with a number.
    #[inline(always)]
    pub fn record(&self, event: Event, number: u64) {
        if recorded() {
            self.trace.record(self.clock().ticks(), event, number);
        }
    }

    /// Records an event with a vCPU as its subject.
    #[inline(always)]
    pub fn record_vcpu(&self, event: Event, vm: &Vm, vcpu: usize) {
        self.record(event, subject(vm, vcpu));
    }

    /// Records which vCPU runs on the core from now on, or that the core is idle, if that changes.
    #[inline(always)]
    pub fn record_run(&self, running: Option<(&Vm, usize)>) {
        if recorded() {
            let who = running.map_or(self.idle_subject(), |(vm, vcpu)| subject(vm, vcpu));
            if self.runs.replace(who) != who {
                self.record(Event::Run, who);
            }
        }
    }

    /// Records the cause of an exit.
    #[inline(always)]
    pub fn record_exit(&self, cause: Cause) {
        if recorded() {
            let vector = cause.vector();
            let class = match vector {
                Cause::Synchronous => El2::read_esr() >> CLASS & 0x3f,
                _ => 0,
            };
            self.record(Event::Exit, (vector as u64) << 8 | class);
        }
    }

    /// Records the entry of the current guest.
    #[inline(always)]
    pub fn record_return(&self) {
        if recorded()
            && let Some((vm, vcpu)) = self.current_vcpu()
        {
            self.record_run(Some((vm, vcpu)));
            self.record_vcpu(Event::Return, vm, vcpu);
        }
    }

    /// Records that an interrupt is listed for the current vCPU.
    #[inline(always)]
    pub fn record_injection(&self, intid: u32) {
        if recorded()
            && let Some((vm, vcpu)) = self.current_vcpu()
        {
            self.record(Event::Inject, subject(vm, vcpu) << 24 | u64::from(intid));
        }
    }

    /// Names a vCPU of this core in its trace.
    pub fn name_in_trace(&self, vm: &Vm, vcpu: usize) {
        if recorded() {
            let mut name = heapless::String::<40>::new();
            // A truncated name is acceptable.
            let _ = match vm.vcpus() {
                1 => name.write_str(vm.name().as_str()),
                _ => write!(name, "{} {vcpu}", vm.name()),
            };
            self.trace.name(subject(vm, vcpu), &name);
        }
    }
}
