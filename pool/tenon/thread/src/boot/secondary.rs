//! Start of the secondary cores by PSCI.

use super::image::Image;
use crate::exception::vectors::vectors;
use crate::trace;
use core_trace::Event;
use hw_arch::entry::SecondaryStart;
use hw_arch::{El1, ExceptionLevel, cpu};
use tenon_irq::{Priority as InterruptPriority, Target, Trigger};
use tenon_kernel::kernel::Kernel;
use tenon_kernel::kernel::entry::kicked;
use tenon_kernel::kernel::smp::KICK_SGI;
use tenon_machine::address_space;
use tenon_machine::context;
use tenon_machine::gic;
use tenon_machine::gic::LinkedDrivers;
use tenon_machine::options;

/// How long the first core waits for another one to start, in nanoseconds. A core starts within
/// some microseconds or not at all.
const START_TIMEOUT: u64 = 1_000_000_000;

unsafe extern "C" {
    /// The entry of a core that PSCI turns on (`hw_arch::image_entry!`).
    #[cfg(target_os = "none")]
    fn secondary_start();
}

/// Registers the kick of the first core, then starts the others one by one. Cores that the machine
/// does not have stay absent. When this returns, every core that is present serves its inbox.
///
/// # Safety
///
/// To be called once, on the first core, when its kernel is initialised.
pub(crate) unsafe fn start_secondaries<
    const MAIN: usize,
    const STACK: usize,
    const LINES: usize,
>(
    image: &Image<MAIN, STACK, LINES>,
    kernel: &'static Kernel,
) {
    let registered =
        kernel
            .interrupts
            .register(KICK_SGI, Trigger::Edge, InterruptPriority::DEFAULT, kicked);
    if let Err(error) = registered {
        panic!("no calls between cores: {error}");
    }
    let Some(own) = kernel.core() else {
        return;
    };
    let affinity = cpu::affinity();
    own.set_present(own_target(kernel));
    kernel.balance();
    for (number, other) in kernel.cores().iter().enumerate().skip(1) {
        // The cores of a cluster, and the vCPUs of a VM, have consecutive values of Aff0 from 0.
        let other_affinity = affinity & !0xff | number as u64;
        let stack = image.interrupt_stack_end(number);
        let start = (stack - size_of::<SecondaryStart>()) as *mut SecondaryStart;
        // SAFETY: the record lies at the end of the interrupt stack of a core that has not started,
        // and is aligned as that stack is.
        unsafe {
            start.write(SecondaryStart {
                stack: start as usize,
                argument: number,
            });
        }
        // SAFETY: `start` is the address of the record that the entry code of this image reads.
        let started = unsafe { turn_on(other_affinity, start as u64) };
        let begin = kernel.clock().nanoseconds();
        while started && !other.is_present() && kernel.clock().nanoseconds() - begin < START_TIMEOUT
        {
            cpu::relax();
        }
        if !other.is_present() {
            core_log::warn!("fewer cores than TENON_THREAD_CORES");
            break;
        }
    }
}

/// Turns a core on by PSCI CPU_ON. Returns whether the call succeeded.
///
/// # Safety
///
/// `start` is the address of a [`SecondaryStart`].
#[cfg(target_os = "none")]
unsafe fn turn_on(affinity: u64, start: u64) -> bool {
    use hw_arch::firmware::{Hvc, Smc, cpu_on};
    /// ID_AA64PFR0_EL1.EL2 (Arm ARM, D19.2.66).
    const HAS_EL2: u64 = 0xf << 8;
    let entry = secondary_start as *const () as u64;
    let has_el2 = hw_arch::read_register!("id_aa64pfr0_el1") & HAS_EL2 != 0;
    // Firmware below an image on bare metal is at EL3 if the machine has EL2, and at EL2 otherwise;
    // Mortise is at EL2 (Arm DEN 0022, 5.2.1).
    let result = if Kernel::guest().is_none() && has_el2 {
        // SAFETY: `entry` is the secondary entry of this image, and `start` the record it reads.
        unsafe { cpu_on::<Smc>(affinity, entry, start) }
    } else {
        // SAFETY: `entry` is the secondary entry of this image, and `start` the record it reads.
        unsafe { cpu_on::<Hvc>(affinity, entry, start) }
    };
    result.is_ok()
}

#[cfg(not(target_os = "none"))]
unsafe fn turn_on(_: u64, _: u64) -> bool {
    false
}

/// Starts the kernel of core `number` and its idle thread.
///
/// # Safety
///
/// To be called once per core by the image's secondary entry, at EL1 on that core's interrupt stack
/// with interrupts masked, after `start_secondaries` turned the core on with this number.
pub unsafe fn boot_secondary<const MAIN: usize, const STACK: usize, const LINES: usize>(
    image: &Image<MAIN, STACK, LINES>,
    number: usize,
) -> ! {
    let (Some(first), Some(kernel)) = (image.kernels.first(), image.kernels.get(number)) else {
        cpu::park()
    };
    // SAFETY: the first core waits until this one is present and changes no field that is read here,
    // and `kernel` is that of this core.
    let (first, kernel) = unsafe { (first.get(), kernel.get()) };
    // SAFETY: the kernel is a static, and the vectors are code of this image.
    unsafe {
        El1::write_tpidr(::core::ptr::from_ref::<Kernel>(kernel) as u64);
        El1::write_vbar(vectors(gic::is_gicv2()) as u64);
    }
    hw_arch::barrier::isb();
    if options::protection() {
        // SAFETY: the first core has built the address space, and this core runs on a stack of the
        // image, which it maps.
        unsafe { address_space::activate() };
    }
    // The first core waits until this one is present, so its kernel can be read.
    kernel.set_core(image.shared, number);
    kernel.cooperative.set(first.cooperative.get());
    kernel.guest.set(first.guest.get());
    kernel.start_clock(first.clock());
    trace::start(kernel, image.trace, first.clock());
    // SAFETY: `board` describes the board that this image was built for.
    let Ok(controller) = (unsafe { gic::find(&image.board) }) else {
        cpu::park()
    };
    // SAFETY: all handlers are registered on the first core, which waits until this one is present.
    let lines = unsafe { image.lines.get() };
    kernel.interrupts.start(lines, controller);
    let timer = (image.board.timer_intid, Trigger::Level);
    let urgency = InterruptPriority::new(options::timer_priority() as u8);
    kernel.interrupts.share(timer.0, timer.1, urgency);
    kernel
        .interrupts
        .share(KICK_SGI, Trigger::Edge, InterruptPriority::DEFAULT);
    let Ok(idle) = image.prepare_idle(kernel, number) else {
        cpu::park()
    };
    idle.smp().init(number, true);
    kernel.scheduler.start(idle);
    kernel.balance();
    if let Some(core) = kernel.core() {
        core.set_present(own_target(kernel));
    }
    kernel.record(Event::Run, idle);
    // SAFETY: the idle thread has a first context, and this function does not use the boot stack
    // after the call.
    unsafe {
        context::enter(
            idle.stack_pointer().get(),
            image.interrupt_stack_end(number),
        )
    }
}

fn own_target(kernel: &Kernel) -> Target {
    kernel.interrupts.controller().own_target::<LinkedDrivers>()
}
