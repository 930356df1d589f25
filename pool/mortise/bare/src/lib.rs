//! Native tasks linked into Mortise, each on a core of its own.
//!
//! # Purpose
//!
//! Each `[[native]]` of a system runs at EL2 beside the VMs, on a core without vCPUs, with the rights
//! that it is given ([`core_bare`]) and no other: it is safe Rust, and its crate depends on nothing of
//! Mortise.
//!
//! It is a crate of its own, as it stands between two that must not depend on each other:
//! `core_bare`, which images without Mortise link as well, and `mortise_partition`, which knows core
//! tasks of any kind.
//!
//! # Guarantees
//!
//! A core takes no interrupt and runs nothing of Mortise while its task runs; a wait ends by the core's
//! own timer. Console output goes to the serial line byte by byte, so that other cores wait for at
//! most one byte. When a task ends, its core idles. A panic of a task ends Mortise, of which it is a
//! part.

#![cfg_attr(target_os = "none", no_std)]
#![expect(unsafe_code, reason = "a grant asserts that the core is free")]

use core_bare::{Grant, Host, Task, tasks};
use hw_arch::cpu;
use mortise_partition::{ConsoleAccess, Core, CoreTask};

/// Entry in the table of core tasks.
pub static NATIVE: Native = Native;

/// All native tasks of the image.
pub struct Native;

impl Native {
    fn on(cpu: usize) -> Option<(usize, &'static Task)> {
        let mut tasks = tasks().iter().enumerate();
        tasks.find(|(_, task)| task.cpu == cpu)
    }
}

impl CoreTask for Native {
    fn runs_on(&self, cpu: usize) -> bool {
        Self::on(cpu).is_some()
    }

    fn run(&self, core: &'static Core) {
        if let Some((_, task)) = Self::on(core.cpu) {
            // SAFETY: Mortise calls this once, on a core that runs nothing else; `THIS_CORE` serves any core.
            (task.main)(&unsafe { Grant::new(&THIS_CORE) });
            core.clock().stop_timer();
        }
    }
}

/// Host of all native tasks: it serves the core that calls it.
struct ThisCore;

static THIS_CORE: ThisCore = ThisCore;

impl Host for ThisCore {
    fn now(&self) -> u64 {
        Core::current().clock().nanoseconds()
    }

    fn wait_until(&self, nanoseconds: u64) {
        let clock = Core::current().clock();
        let deadline = clock.frequency().ticks(nanoseconds);
        clock.arm_timer(deadline);
        // The timer interrupt ends WFI while it stays masked. Other events may do so too.
        while clock.ticks() < deadline {
            cpu::wait_for_interrupt();
        }
    }

    fn write(&self, bytes: &[u8]) {
        let core = Core::current();
        if let Some((number, task)) = Native::on(core.cpu) {
            bytes
                .iter()
                .for_each(|&byte| core.put(number, task.name, byte));
        }
    }
}
