//! What happens on a core, recorded for a timeline.
//!
//! With MORTISE_TRACE each core writes events into a ring (`core_trace`), which
//! `./tenon run --trace FILE` turns into a timeline beside those of Tenon: the counter is the same
//! for all, as `CNTVOFF_EL2` is zero. Without it, a constant of the link, no instruction is left.

use super::{topology::Core, vm::Vm};
use core::fmt::Write;
use core_statistics::State;
use core_trace::Event;
use hw_arch::{El2, ExceptionLevel};
use mortise_vcpu::Cause;

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `image!` defines it with this type, and nothing writes it.
    safe static MORTISE_TRACE: bool;
}

/// Whether events are recorded.
#[inline(always)]
pub(crate) fn recorded() -> bool {
    #[cfg(target_os = "none")]
    return MORTISE_TRACE;
    #[cfg(not(target_os = "none"))]
    return false;
}

/// The subject that stands for a virtual CPU.
const fn subject(vm: &Vm, vcpu: usize) -> u64 {
    (vm.index as u64 + 1) << 8 | vcpu as u64
}

/// The class of the exception in `ESR_EL2` (Arm ARM, D19.2.37).
const CLASS: u32 = 26;

/// What a core records. Each is called on that core, with every interrupt masked.
impl Core {
    /// Begins its trace.
    pub(crate) fn start_trace(&self) {
        if recorded()
            && let Some(ring) = self.machine.rings.get(self.cpu)
        {
            let hertz = self.clock().frequency().hertz();
            self.trace.start(ring, self.cpu as u32, hertz.into());
            let mut name = heapless::String::<16>::new();
            let _ = write!(name, "idle {}", self.cpu);
            self.trace.name(self.nobody(), &name);
        }
    }

    /// The subject that stands for nobody's having this core.
    const fn nobody(&self) -> u64 {
        self.cpu as u64 + 1
    }

    /// Records an event about a number.
    #[inline(always)]
    pub fn record(&self, event: Event, number: u64) {
        if recorded() {
            self.trace.record(self.clock().ticks(), event, number);
        }
    }

    /// Records an event about a virtual CPU.
    #[inline(always)]
    pub fn record_vcpu(&self, event: Event, vm: &Vm, vcpu: usize) {
        self.record(event, subject(vm, vcpu));
    }

    /// Records who has the core from here on, if it is another one: a virtual CPU or nobody.
    #[inline(always)]
    pub fn record_run(&self, sitter: Option<(&Vm, usize)>) {
        if recorded() {
            let who = sitter.map_or(self.nobody(), |(vm, vcpu)| subject(vm, vcpu));
            if self.runs.replace(who) != who {
                self.record(Event::Run, who);
            }
        }
    }

    /// Records why a guest comes to Mortise.
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

    /// Records whose guest goes on.
    #[inline(always)]
    pub fn record_return(&self) {
        if recorded()
            && let Some((vm, vcpu)) = self.current_vcpu()
        {
            self.record_run(Some((vm, vcpu)));
            self.record_vcpu(Event::Return, vm, vcpu);
        }
    }

    /// Records that an interrupt stands before the virtual CPU in the registers.
    #[inline(always)]
    pub(crate) fn record_injection(&self, intid: u32) {
        if recorded()
            && let Some((vm, vcpu)) = self.current_vcpu()
        {
            self.record(Event::Inject, subject(vm, vcpu) << 24 | u64::from(intid));
        }
    }

    /// Names a virtual CPU of this core in its trace.
    pub fn name_in_trace(&self, vm: &Vm, vcpu: usize) {
        if recorded() {
            let mut name = heapless::String::<40>::new();
            // A name that is cut is a name.
            let _ = match vm.vcpus() {
                1 => name.write_str(vm.name().as_str()),
                _ => write!(name, "{} {vcpu}", vm.name()),
            };
            self.trace.name(subject(vm, vcpu), &name);
        }
    }
}

impl Vm {
    /// Records that it is in another state, on the core that made it so.
    #[inline(always)]
    pub(crate) fn record_state(&self, state: State) {
        if recorded() {
            let number = (self.index as u64) << 8 | state as u64;
            Core::current().record(Event::State, number);
        }
    }
}
