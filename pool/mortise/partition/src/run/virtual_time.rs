//! Virtual timer and counter of a vCPU that is stopped.

use crate::machine::{Vm, options::orders_are_given};
use core::sync::atomic::Ordering;
use hw_arch::registers::{cntv_ctl_el0, cntvoff_el2};

/// The virtual timer of a vCPU that has a core to itself, while it does not go on.
pub(crate) struct StoppedTimer(u64);

impl StoppedTimer {
    /// Stops it: what it would interrupt does not run.
    pub(crate) fn stop() -> Self {
        let control = cntv_ctl_el0::read();
        cntv_ctl_el0::write(0);
        Self(control)
    }

    /// Lets it go on, by the counter as the virtual machine sees it now.
    pub(crate) fn go_on(self, vm: &Vm) {
        set_counter(vm);
        cntv_ctl_el0::write(self.0);
    }
}

/// Sets the virtual counter of the core that a vCPU has to itself.
pub(crate) fn set_counter(vm: &Vm) {
    let lost = match orders_are_given() {
        true => vm.suspension.lost.load(Ordering::Acquire),
        false => 0,
    };
    // SAFETY: what EL1 reads as time; nothing of Mortise's depends on it.
    unsafe { cntvoff_el2::write(lost) };
    hw_arch::barrier::isb();
}
