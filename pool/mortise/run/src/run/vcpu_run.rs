//! Run of a core: of its pinned vCPU from boot to guest entry and to its stop, of its scheduler, or of a
//! core task.
//!
//! ```text
//! boot ─► init ─► wait ──start──► enter ─► guest ◄─► exit
//!                  ▲                                    │
//!                  └──── CPU_OFF, end of the run ───────┘
//! ```
//!
//! The core of a VM's first vCPU controls the VM's runs: it fills the memory, waits until the other
//! vCPUs have stopped, and ends the run as was decided, with or without a restart. The state machine of
//! [`mortise_psci::Power`] decides on the end, and which cores are awaited and kicked. The core of a
//! vCPU that is off still takes Mortise's own interrupts, so that the console continues.

use super::{
    vcpu_lifecycle::{ParkedAction, VcpuLifecycle, wait, wait_off_core},
    virtual_time::{StoppedTimer, set_counter},
};
use crate::{
    gic::{list_registers::is_interrupt_listed, reset::reset_interrupts, vm_interrupts::refresh},
    irq::{deliver::serve_pending, doorbell::wake_pending_vms, init::init_core},
};
use core_statistics::ExitKind;
use hw_arch::cpu;
use mortise_hypercall::{SMCCC_VERSION, Start, VERSION_1_1};
use mortise_machine::{
    Core, Vm,
    interface::CoreTask,
    registry, trace,
    vm::{DISCARDED, ENDING},
};
use mortise_psci::VERSION;
use mortise_state::resumable::run_to_completion;
use mortise_vcpu::{ConstantReply, Frame, InterruptMode, Traps};

/// Hypercalls with a constant reply, which the vectors answer on a core with a pinned vCPU.
pub(crate) static CONSTANT_REPLIES: [ConstantReply; 3] = [
    ConstantReply::new(VERSION.0, VERSION.1),
    ConstantReply::new(SMCCC_VERSION, VERSION_1_1),
    ConstantReply::END,
];

/// Takes this core from its first Rust instruction to its guest.
pub fn run(core: &'static Core) -> ! {
    install_vectors(core);
    core.start_trace();
    init_core(core);
    if let Some(dispatcher) = core.dispatcher() {
        apply_shared_traps(core);
        wake_pending_vms(core);
        core.take_all_announced();
        dispatcher.begin(core)
    }
    let Some((vm, vcpu)) = core.current_vcpu() else {
        core.record_run(None);
        if let Some(core_task) = core.core_task() {
            run_core_task(core, core_task);
        }
        loop {
            wait(core);
        }
    };
    // SAFETY: stage 2 is never freed, and no other VM has this VMID.
    unsafe { vm.traps().apply(vm.vttbr(), vcpu) };
    // No guest is delayed: one call does all steps.
    let _whole = reset_interrupts(core, vm, vcpu, 0);
    let start = wait_for_start(core, vm, vcpu);
    run_to_completion(|step| core.prepare_start((vm, vcpu), start, step));
    // SAFETY: the core's frame is used here and by its exits only, the stack belongs to this core,
    // `prepare_start` has reset EL1, and this function never returns.
    unsafe {
        let frame = &core.pinned.frame;
        frame.get().start(start.argument, core.stack_top());
        core.check_entry();
        mortise_vcpu::enter(frame)
    }
}

/// Installs the vectors for a shared core or for a pinned vCPU.
fn install_vectors(core: &Core) {
    if core.dispatcher().is_some() {
        return mortise_vcpu::install_shared_vectors();
    }
    if let Some((vm, vcpu)) = core.current_vcpu() {
        enable_fast_paths(core, vm, vcpu);
    }
    // SAFETY: the only frame that is entered on this core is that of its pinned vCPU.
    unsafe { mortise_vcpu::install_fast_vectors() };
}

/// Enables exit counters and the vectors' fast paths for the pinned vCPU. With a trace there are no
/// fast paths, as they record nothing.
fn enable_fast_paths(core: &Core, vm: &'static Vm, vcpu: usize) {
    const { assert!(ExitKind::Interrupt as u32 == 0 && ExitKind::Hypercall as u32 == 1) };
    if let Some(exits) = vm.exits(vcpu) {
        core.pinned.count_in(exits.words());
    }
    if let (Some(template), false) = (vm.timer_template_of(vcpu), trace::recorded()) {
        let timer = core.machine.board.virtual_timer;
        core.pinned
            .enable_fast_paths(timer, template, &CONSTANT_REPLIES);
    }
}

/// Sets the traps of a shared core, which are the same for all its vCPUs.
fn apply_shared_traps(core: &Core) {
    let traps = Traps {
        interrupts: InterruptMode::Shared,
        trap_wait: true,
        trap_pmu_and_debug: true,
        trap_physical_timer: true,
    };
    // No guest runs before its own stage 2 is active; any one will do until then.
    if let Some(vm) = core.machine.vms().next() {
        // SAFETY: stage 2 is never freed, and no other VM has this VMID.
        unsafe { traps.apply(vm.vttbr(), 0) };
    }
}

/// Waits until vCPU `vcpu` starts; the first vCPU ends and starts runs meanwhile.
fn wait_for_start(core: &'static Core, vm: &'static Vm, vcpu: usize) -> Start {
    loop {
        if vm.hold_requested() {
            wait_off_core(core, vm, vcpu);
            continue;
        }
        match core.service_parked_vcpu(vm, vcpu) {
            ParkedAction::Start(start) => {
                if vm.has_to_wait() {
                    wait_while_held(core, vm, vcpu);
                }
                set_counter(vm);
                return start;
            }
            ParkedAction::Interrupted => serve_pending(core),
            ParkedAction::Idle if core.is_borrowed(vm, vcpu) => {}
            ParkedAction::Idle if vm.awaits_cores(core.machine) => {
                cpu::relax();
                serve_pending(core);
            }
            ParkedAction::Idle => wait_off_core(core, vm, vcpu),
        }
    }
}

/// Waits, marked as off its core, for as long as a vCPU [has to wait](Vm::has_to_wait), at least once.
fn wait_while_held(core: &'static Core, vm: &'static Vm, vcpu: usize) {
    loop {
        vm.mark_off_core(vcpu, core.clock().ticks());
        wait(core);
        if !vm.has_to_wait() {
            return;
        }
    }
}

/// Blocks a guest that waits until an interrupt is pending. The core does not wake for what is
/// pending in a list register already.
pub(crate) fn block(core: &'static Core, vm: &'static Vm, vcpu: usize) {
    if let Some(dispatcher) = core.dispatcher() {
        if !is_interrupt_listed(core) {
            dispatcher.wait(core);
        }
        return;
    }
    if let Some(chip) = registry::irqchip() {
        return core.wait_by(chip);
    }
    refresh(core, vm, vcpu);
    if !vm.is_shared() {
        return with_doorbell_deliverable(vm, cpu::wait_for_interrupt);
    }
    // The vectors may have listed the timer's interrupt without a record.
    core.lr_usage.set(core.lr_usage.get().with_lr(0, true));
    if !is_interrupt_listed(core) {
        cpu::wait_for_interrupt();
    }
}

/// Ends an exit: returns when the guest continues at its next instruction or, if its run ends, at a
/// new start.
pub(crate) fn finish_exit(core: &'static Core, vm: &'static Vm, vcpu: usize, frame: &mut Frame) {
    if !vm.may_run() {
        apply_orders(core, vm, vcpu, frame);
    }
}

/// Waits while the VM is held or suspended; starts anew if its run ended or its context is
/// discarded. Interrupts that arrived meanwhile are listed after that, once.
#[cold]
pub(crate) fn apply_orders(core: &'static Core, vm: &'static Vm, vcpu: usize, frame: &mut Frame) {
    if vm.has_to_wait() {
        let timer = StoppedTimer::stop();
        with_doorbell_deliverable(vm, || wait_while_held(core, vm, vcpu));
        timer.resume(vm);
    }
    // Not by `may_run`: a hold that is requested just now pends the doorbell, which is taken later.
    if vm.orders() & (DISCARDED | ENDING) != 0 {
        stop_and_wait(core, vm, vcpu, frame);
    } else {
        refresh(core, vm, vcpu);
    }
}

/// Stops this vCPU, waits until it is started again, then lets the guest continue there.
pub(crate) fn stop_and_wait(core: &'static Core, vm: &'static Vm, vcpu: usize, frame: &mut Frame) {
    core.check_stop(vm, vcpu);
    run_to_completion(|step| core.stop_vcpu((vm, vcpu), &frame.x, step));
    let start = wait_for_start(core, vm, vcpu);
    run_to_completion(|step| core.prepare_start((vm, vcpu), start, step));
    // SAFETY: the stack belongs to this core, and an exit leaves nothing on it.
    unsafe { frame.start(start.argument, core.stack_top()) };
}

/// Calls `wait` with the doorbell deliverable, whatever priority the guest with direct interrupts
/// has made active.
fn with_doorbell_deliverable(vm: &Vm, wait: impl FnOnce()) {
    if vm.is_shared() || registry::irqchip().is_some() {
        return wait();
    }
    let active = hw_arch::registers::icc_ap1r0_el1::read();
    hw_arch::registers::icc_ap1r0_el1::write(0);
    hw_arch::barrier::isb();
    wait();
    hw_arch::registers::icc_ap1r0_el1::write(active);
}

/// Runs a core task to its end, after which the machine may be powered off.
pub(crate) fn run_core_task(core: &'static Core, core_task: &dyn CoreTask) {
    core_task.run(core);
    core.machine.count_end();
}
