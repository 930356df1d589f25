//! Main loop of a lent core.

use crate::cell::Reason;
use crate::context::Context;
use crate::entry::{Exit, ExitClass, Level};
use crate::world::{self, Vectors};
use crate::{LOANS, LentCore};
use core::sync::atomic::Ordering;
use hw_arch::{El2, ExceptionLevel, cpu, read_register, registers::hpfar_el2};
use mortise_partition::{
    Core, CoreInterrupts, HandleExit, Loan, RaiseInterrupt, VcpuLifecycle, Vm,
};
use mortise_vcpu::{Cause, Frame};

/// Value of x8 by which a program requests to wait until the time in x0.
const WAIT: u64 = 0x7e0_0001;

/// A context that is running on its core.
struct Run<'a> {
    lent: &'a LentCore,
    core: &'static Core,
    vm: &'static Vm,
    vcpu: usize,
    context: Context,
}

/// Return of a context: the reason, the program counter and the state.
type End = (Reason, u64, u64);

/// Runs contexts, one after the other, until the core is reclaimed.
pub(crate) fn serve(lent: &LentCore, core: &'static Core, vm: &'static Vm, vcpu: usize) {
    let vectors = Vectors::install();
    core.enable_hypervisor_timer();
    while vm.loan(vcpu) == Loan::Lent {
        match vm.may_run() && lent.cell().is_ready() {
            true => run_context(lent, core, vm, vcpu),
            false => core.wait_on_lent_core(vm, vcpu),
        }
    }
    vectors.restore();
    if lent.cell().is_ready() {
        // The VM may wait for an answer to RUN.
        hand_over(lent, core, vm, Reason::Reclaimed);
    }
    core.return_core(vm, vcpu, &lent.cell().registers());
}

/// Runs the context of the cell until it returns.
fn run_context(lent: &LentCore, core: &'static Core, vm: &'static Vm, vcpu: usize) {
    let cell = lent.cell();
    let reason = match Context::load(cell) {
        None => Reason::Refused,
        Some(context) => {
            let run = Run {
                lent,
                core,
                vm,
                vcpu,
                context,
            };
            let (reason, pc, state) = run.run();
            context.save(cell, pc, state);
            reason
        }
    };
    hand_over(lent, core, vm, reason);
}

/// Hands the cell to the VM, and interrupts it if it sleeps.
fn hand_over(lent: &LentCore, core: &'static Core, vm: &'static Vm, reason: Reason) {
    if lent.cell().hand_over(reason) {
        vm.raise(core.machine(), LOANS.interrupt(vm));
    }
}

impl Run<'_> {
    fn run(&self) -> End {
        // An IPI that arrived before this run began has been acknowledged and is not repeated.
        if let Some(end) = self.end_requested() {
            return end;
        }
        loop {
            self.core.record_return();
            let registers = self.lent.cell().x.as_ptr().cast_mut().cast::<u64>();
            // SAFETY: the cell's page is mapped here and shared with the VM only, and any value may
            // be read there. `serve` has installed the vectors, the core has its VM's stage 2 and
            // traps, and the state is one of EL0 or EL1: `Context::load` checked the first one, and
            // the core itself saved later ones.
            let cause = unsafe { world::run(registers) };
            self.core.record_exit(cause);
            let end = match cause {
                Cause::Synchronous | Cause::Hypercall => self.synchronous(),
                Cause::Irq | Cause::Fiq | Cause::Acknowledged => {
                    self.core.serve_pending();
                    self.end_requested()
                }
                Cause::SError => {
                    self.as_guest(cause);
                    self.end_requested()
                }
            };
            if let Some(end) = end {
                return end;
            }
        }
    }

    /// Handles a synchronous exception, or ends the run.
    fn synchronous(&self) -> Option<End> {
        let spsr = El2::read_spsr();
        let exit = Exit {
            esr: El2::read_esr(),
            far: El2::read_far(),
            hpfar: hpfar_el2::read(),
            spsr,
        };
        let (reason, syndrome, address) = match exit.classify(self.context.level) {
            ExitClass::Exception => {
                let syndrome = read_register!("esr_el1");
                if self.is_wait(syndrome) {
                    return self.wait();
                }
                (Reason::Exception, syndrome, read_register!("far_el1"))
            }
            ExitClass::Interrupt => (Reason::Interrupted, 0, 0),
            ExitClass::UpperHalf(syndrome) => {
                self.record_exception(syndrome, exit.far);
                return Some((Reason::Exception, El2::read_elr(), spsr));
            }
            ExitClass::Call => {
                self.record_exception(exit.esr, 0);
                return Some((Reason::Exception, El2::read_elr(), spsr));
            }
            ExitClass::Guest => {
                self.as_guest(Cause::Synchronous);
                return self.end_requested();
            }
        };
        self.record_exception(syndrome, address);
        Some((
            reason,
            read_register!("elr_el1"),
            read_register!("spsr_el1"),
        ))
    }

    /// Records the exception in the cell.
    fn record_exception(&self, syndrome: u64, address: u64) {
        let cell = self.lent.cell();
        cell.esr.store(syndrome, Ordering::Relaxed);
        cell.far.store(address, Ordering::Relaxed);
    }

    /// Handles an exit as for a vCPU that is on: an emulated device, an undefined instruction.
    #[cold]
    fn as_guest(&self, cause: Cause) {
        let cell = self.lent.cell();
        let mut frame = Frame::ZERO;
        frame.x = cell.registers();
        self.core.handle_exit(&mut frame, cause);
        for (word, value) in cell.x.iter().zip(frame.x) {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// The end of this run, if it was requested. For a VM that is held the core only waits.
    fn end_requested(&self) -> Option<End> {
        while self.vm.loan(self.vcpu) == Loan::Lent && !self.vm.may_run() {
            self.core.wait_on_lent_core(self.vm, self.vcpu);
        }
        let reason = if self.vm.loan(self.vcpu) != Loan::Lent {
            Reason::Reclaimed
        } else if self.lent.stop.load(Ordering::Acquire) {
            Reason::Stopped
        } else {
            return None;
        };
        let (pc, state) = (El2::read_elr(), El2::read_spsr());
        // EL0 has just taken an exception and is at its missing vector: that is reported first.
        let excepted = self.context.level == Level::User && state & 0xf != 0;
        (!excepted).then_some((reason, pc, state))
    }

    fn is_wait(&self, syndrome: u64) -> bool {
        const SVC: u64 = 0x15;
        let [.., x8] = self.lent.cell().x.first_chunk::<9>().map_or([0; 9], |x| {
            x.each_ref().map(|word| word.load(Ordering::Relaxed))
        });
        syndrome >> 26 == SVC && x8 == WAIT
    }

    /// Waits until the time in x0 and continues the context. Returns `None` if the run is to end
    /// before: the context then repeats its request if it is continued.
    fn wait(&self) -> Option<End> {
        let (cell, clock) = (self.lent.cell(), self.core.clock());
        let [until, ..] = &cell.x;
        let ticks = clock.frequency().ticks(until.load(Ordering::Relaxed));
        let pc = read_register!("elr_el1");
        // SAFETY: the program counter after the request and EL0's own state, as the core saved
        // them.
        unsafe {
            El2::write_elr(pc);
            El2::write_spsr(read_register!("spsr_el1"));
        }
        cell.count_wait();
        loop {
            clock.arm_timer(ticks);
            cpu::wait_for_interrupt();
            let due = clock.timer_expired();
            clock.stop_timer();
            if due {
                until.store(0, Ordering::Relaxed);
                return None;
            }
            self.core.serve_pending();
            if let Some((reason, _, state)) = self.end_requested() {
                return Some((reason, pc.wrapping_sub(4), state));
            }
        }
    }
}
