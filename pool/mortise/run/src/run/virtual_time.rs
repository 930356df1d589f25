//! Virtual timer and counter of a stopped vCPU.

use core::sync::atomic::Ordering;
use hw_arch::registers::{cntv_ctl_el0, cntvoff_el2};
use mortise_machine::Vm;
use mortise_state::options::has_vm_extensions;

/// Virtual timer of a pinned vCPU while it is stopped.
pub(crate) struct StoppedTimer(u64);

impl StoppedTimer {
    /// Stops the timer: the vCPU it would interrupt does not run.
    pub(crate) fn stop() -> Self {
        let control = cntv_ctl_el0::read();
        cntv_ctl_el0::write(0);
        Self(control)
    }

    /// Restarts the timer, with the VM's virtual counter.
    pub(crate) fn resume(self, vm: &Vm) {
        set_counter(vm);
        cntv_ctl_el0::write(self.0);
    }
}

/// Sets the virtual counter of a core with a pinned vCPU.
pub(crate) fn set_counter(vm: &Vm) {
    let lost = match has_vm_extensions() {
        true => vm.suspension.lost.load(Ordering::Acquire),
        false => 0,
    };
    // SAFETY: it changes the time that EL1 reads, on which nothing at EL2 depends.
    unsafe { cntvoff_el2::write(lost) };
    hw_arch::barrier::isb();
}
