//! The start of all cores but the first.

use super::{KICK_SGI, kicked};
use crate::assembly;
use crate::boot::Image;
use crate::controller;
use crate::kernel::{Kernel, Linked};
use crate::options;
use crate::space;
use crate::trace;
use core_trace::Event;
use hw_arch::entry::SecondaryStart;
use hw_arch::{El1, ExceptionLevel, cpu};
use tenon_irq::{Priority as InterruptPriority, Target, Trigger};

/// How long the first core waits for another one to begin, in nanoseconds: it has started within
/// some microseconds or not at all.
const START_TIMEOUT: u64 = 1_000_000_000;

unsafe extern "C" {
    /// Where a core begins that PSCI turns on (`hw_arch::image_entry!`).
    #[cfg(target_os = "none")]
    fn secondary_start();
}

/// Lets the first core be called, and starts the others one by one; those the machine does not have
/// stay absent. When this returns, whoever is there serves its inbox.
///
/// # Safety
///
/// To be called once, on the first core, whose kernel is complete.
pub(crate) unsafe fn start_secondaries<
    const MAIN: usize,
    const STACK: usize,
    const LINES: usize,
>(
    image: &Image<MAIN, STACK, LINES>,
    kernel: &'static Kernel,
) {
    let calls =
        kernel
            .interrupts
            .register(KICK_SGI, Trigger::Edge, InterruptPriority::DEFAULT, kicked);
    if let Err(error) = calls {
        panic!("no calls between cores: {error}");
    }
    let Some(own) = kernel.core() else {
        return;
    };
    let affinity = cpu::affinity();
    own.announce(own_target(kernel));
    kernel.balance();
    for (number, other) in kernel.cores().iter().enumerate().skip(1) {
        // The cores of a cluster have Aff0 from 0 on; so have those of a VM.
        let other_affinity = affinity & !0xff | number as u64;
        let stack = image.interrupt_stack_end(number);
        let start = (stack - size_of::<SecondaryStart>()) as *mut SecondaryStart;
        // SAFETY: it is at the end of a stack that nobody uses yet, and aligned as that is.
        unsafe {
            start.write(SecondaryStart {
                stack: start as usize,
                argument: number,
            });
        }
        // SAFETY: the entry of this image expects just that.
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

/// Turns a core on by PSCI; returns whether it is to be expected.
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
    // Firmware that leaves a machine to this image is above its EL2, if there is one, or else where
    // EL2 would be; Mortise is at EL2 (Arm DEN 0022, 5.2.1).
    let result = if Kernel::guest().is_none() && has_el2 {
        // SAFETY: the caller's contract.
        unsafe { cpu_on::<Smc>(affinity, entry, start) }
    } else {
        // SAFETY: the caller's contract.
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
/// As for [`boot`](crate::parts::boot), on the core that [`start_secondaries`] turned on with this
/// number.
pub unsafe fn boot_secondary<const MAIN: usize, const STACK: usize, const LINES: usize>(
    image: &Image<MAIN, STACK, LINES>,
    number: usize,
) -> ! {
    let (Some(first), Some(kernel)) = (image.kernels.first(), image.kernels.get(number)) else {
        cpu::park()
    };
    let (first, kernel) = (first.get(), kernel.get());
    // SAFETY: as in `boot`.
    unsafe {
        El1::write_tpidr(core::ptr::from_ref::<Kernel>(kernel) as u64);
        El1::write_vbar(assembly::vectors(controller::is_gicv2()) as u64);
    }
    hw_arch::barrier::isb();
    if options::protection() {
        // SAFETY: the first core has built it, and this one runs on a stack of the image.
        unsafe { space::activate() };
    }
    // The first core waits meanwhile.
    kernel.set_core(image.shared, number);
    kernel.cooperative.set(first.cooperative.get());
    kernel.guest.set(first.guest.get());
    kernel.start_clock(first.clock());
    trace::start(kernel, image.trace, first.clock());
    // SAFETY: the platform tells the truth.
    let Ok(controller) = (unsafe { controller::find(&image.platform) }) else {
        cpu::park()
    };
    kernel.interrupts.start(image.lines.get(), controller);
    let timer = (image.platform.timer_intid, Trigger::Level);
    let urgency = InterruptPriority::new(options::timer_priority() as u8);
    kernel.interrupts.share(timer.0, timer.1, urgency);
    kernel
        .interrupts
        .share(KICK_SGI, Trigger::Edge, InterruptPriority::DEFAULT);
    let Ok(idle) = image.prepare_idle(kernel, number) else {
        cpu::park()
    };
    idle.smp().settle(number, true);
    kernel.scheduler.start(idle);
    kernel.balance();
    if let Some(core) = kernel.core() {
        core.announce(own_target(kernel));
    }
    kernel.record(Event::Run, idle);
    // SAFETY: as in `boot`.
    unsafe {
        assembly::enter(
            idle.stack_pointer().get(),
            image.interrupt_stack_end(number),
        )
    }
}

fn own_target(kernel: &Kernel) -> Target {
    kernel.interrupts.controller().own_target::<Linked>()
}
