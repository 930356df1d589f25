//! Cores that no virtual machine has, and what else runs there.

use crate::{Core, console, machine::Machine, registry};
use core::sync::atomic::Ordering;
use core_manifest::Name;

/// What a library registers that runs something of its own on cores without a virtual machine.
pub trait CoreTask: Sync {
    /// Whether it runs something on this core.
    fn runs_on(&self, cpu: usize) -> bool;

    /// Runs it: called once, on that core, with every interrupt masked and the hypervisor's timer
    /// enabled. The core rests when it returns.
    fn run(&self, core: &'static Core);
}

impl Core {
    /// What runs on this core in place of a virtual machine, if something does.
    pub(crate) fn core_task(&self) -> Option<&'static dyn CoreTask> {
        let mut core_tasks = registry::core_tasks().iter().copied();
        core_tasks.find(|core_task| core_task.runs_on(self.cpu))
    }

    /// Runs it to its end, with which the machine may go off.
    pub(crate) fn run_core_task(&'static self, core_task: &dyn CoreTask) {
        core_task.run(self);
        self.machine.end_one();
    }

    /// Puts a byte of tenant number `writer` on the line; returns when it is there.
    pub fn put(&'static self, writer: usize, name: &str, byte: u8) {
        let writer = self.machine.vms.len() + writer;
        let name = Name::new(name.as_bytes()).unwrap_or(Name::NONE);
        while !console::put(self.machine, writer, byte, &name) {}
    }
}

impl Machine {
    /// Counts one among those that have not ended.
    pub(crate) fn begin_one(&self) {
        self.live.fetch_add(1, Ordering::AcqRel);
    }

    /// Counts one no more; with the last one the machine goes off.
    pub(crate) fn end_one(&self) {
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            core_log::info!("every virtual machine has ended");
            hw_arch::firmware::system_off::<hw_arch::firmware::Smc>();
        }
    }
}
