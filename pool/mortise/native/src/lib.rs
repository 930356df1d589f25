//! Native tasks: programs linked into Mortise, each on a core of its own.
//!
//! # Purpose
//!
//! What `[[native]]` of a system names runs at EL2 beside the virtual machines, on a core that none
//! of them has, with the rights that it is given ([`core_native`]) and no other: it is safe Rust, in
//! an image that it cannot reach anything of by name.
//!
//! # Guarantees
//!
//! A task's core takes no interrupt and executes nothing of Mortise's while the task runs; it waits
//! for the core's own timer. A line of its console goes to the serial line byte by byte, so that
//! nobody waits for more than a byte of it. A task that ends leaves its core at rest; one that
//! panics ends Mortise, of which it is a part.

#![cfg_attr(target_os = "none", no_std)]
#![expect(unsafe_code, reason = "a core is granted to its task")]

use core_native::{Grant, Host, Task, tasks};
use hw_arch::cpu;
use mortise_partition::{Core, Tenant};

/// What Mortise finds native tasks by.
pub static NATIVE: Native = Native;

/// All native tasks of the image.
pub struct Native;

impl Native {
    fn on(cpu: usize) -> Option<(usize, &'static Task)> {
        let mut tasks = tasks().iter().enumerate();
        tasks.find(|(_, task)| task.cpu == cpu)
    }
}

impl Tenant for Native {
    fn has(&self, cpu: usize) -> bool {
        Self::on(cpu).is_some()
    }

    fn run(&self, core: &'static Core) {
        if let Some((_, task)) = Self::on(core.cpu) {
            // SAFETY: Mortise gives this core to nobody else, and to this task once.
            (task.main)(&unsafe { Grant::new(&HERE) });
            core.clock().stop_alarm();
        }
    }
}

/// The host of each task: the core that it runs on.
struct Here;

static HERE: Here = Here;

impl Host for Here {
    fn now(&self) -> u64 {
        Core::current().clock().nanoseconds()
    }

    fn wait_until(&self, nanoseconds: u64) {
        let clock = Core::current().clock();
        let deadline = clock.frequency().ticks(nanoseconds);
        clock.set_alarm(deadline);
        // Its interrupt, which stays masked, ends the wait; the counter says whether it was that.
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
