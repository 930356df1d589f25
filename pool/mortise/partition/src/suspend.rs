//! Virtual machines that run only while somebody wants them to.
//!
//! A suspension is an order like a [hold](Vm::hold), of somebody else: neither ends with the other. It
//! is not awaited, and it binds a run that goes on: one that ends is taken to its end all the same.
//!
//! Where its time is virtual, what a machine was suspended for is taken off its virtual counter
//! (`CNTVOFF_EL2`, Arm ARM D11.2.2): from when the last of its vCPUs stopped, as none of them may see
//! time go back. If one of them had not stopped, nothing is.

use crate::{
    machine::Machine,
    registry::orders_are_given,
    vm::{DISCARDED, ENDING, HELD, SUSPENDED, Vm},
};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use hw_arch::registers::{cntv_ctl_el0, cntvoff_el2};
use mortise_psci::VcpuSet;

/// What is kept of a virtual machine's suspensions.
pub(crate) struct Suspension {
    /// Whether its time is virtual.
    unnoticed: AtomicBool,
    /// The vCPUs that stopped in this one, one bit each.
    stopped: AtomicU32,
    /// When the last of them did, in ticks of the counter.
    since: AtomicU64,
    /// Ticks it was suspended for in all, which its virtual counter is behind.
    lost: AtomicU64,
}

impl Suspension {
    /// Of one that never was.
    pub(crate) const fn new() -> Self {
        Self {
            unnoticed: AtomicBool::new(false),
            stopped: AtomicU32::new(0),
            since: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// Begins another one.
    fn begin(&self) {
        self.since.store(0, Ordering::Relaxed);
        self.stopped.store(0, Ordering::Release);
    }

    /// Notes that a vCPU has stopped by now; the first time counts.
    fn note(&self, vcpu: usize, now: u64) {
        let stopped = self.stopped.load(Ordering::Acquire);
        if stopped >> vcpu & 1 == 0 {
            self.since.fetch_max(now, Ordering::Relaxed);
            self.stopped.fetch_or(1 << vcpu, Ordering::AcqRel);
        }
    }

    /// Ends it.
    fn end(&self, vcpus: usize, now: u64) {
        let all = (1 << vcpus) - 1;
        if self.unnoticed.load(Ordering::Relaxed)
            && self.stopped.load(Ordering::Acquire) & all == all
        {
            let lost = now.saturating_sub(self.since.load(Ordering::Relaxed));
            self.lost.fetch_add(lost, Ordering::Release);
        }
    }
}

/// Virtual machines that are suspended. One suspends or resumes at a time.
impl Vm {
    /// Makes its time virtual, before it first runs, on cores of its own.
    pub fn use_virtual_time(&self) {
        self.suspension.unnoticed.store(true, Ordering::Relaxed);
    }

    /// Stops all its vCPUs until it is [resumed](Self::resume); `except` is one that stops by itself,
    /// as it is in Mortise now.
    pub fn suspend(&'static self, machine: &'static Machine, except: Option<usize>) {
        // In this order: who obeys an earlier one may still say that it has stopped.
        self.orders.fetch_or(SUSPENDED, Ordering::AcqRel);
        self.suspension.begin();
        let except = except.map_or(0, |vcpu| 1 << vcpu);
        self.call(
            VcpuSet::from_bits(self.all_vcpus().bits() & !except),
            machine,
        );
    }

    /// Lets its vCPUs go on.
    pub fn resume(&'static self, machine: &'static Machine) {
        let now = machine.board.clock.ticks();
        self.suspension.end(self.vcpus(), now);
        self.orders.fetch_and(!SUSPENDED, Ordering::AcqRel);
        self.call(self.all_vcpus(), machine);
    }

    /// Whether its vCPUs are to stay off their cores. What its memory is missing then may be
    /// there when they go on.
    #[must_use]
    pub fn is_descheduled(&self) -> bool {
        let orders = self.orders();
        orders_are_given() && (orders & HELD != 0 || orders & (SUSPENDED | ENDING) == SUSPENDED)
    }

    /// Whether a guest that runs has to wait: what it did is needed still.
    pub(crate) fn has_to_wait(&self) -> bool {
        let orders = self.orders();
        orders_are_given() && orders & (HELD | SUSPENDED) != 0 && orders & (DISCARDED | ENDING) == 0
    }

    /// Notes that a vCPU is off its core.
    pub(crate) fn mark_off_core(&self, vcpu: usize, now: u64) {
        self.away.fetch_or(1 << vcpu, Ordering::AcqRel);
        if self.orders() & SUSPENDED != 0 {
            self.suspension.note(vcpu, now);
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn unnoticed() -> Suspension {
        let suspension = Suspension::new();
        suspension.unnoticed.store(true, Ordering::Relaxed);
        suspension
    }

    #[test]
    fn time_stands_still_from_when_the_last_vcpu_stopped() {
        let suspension = unnoticed();
        suspension.begin();
        for (vcpu, now) in [(1, 20), (0, 30), (1, 50)] {
            suspension.note(vcpu, now);
        }
        suspension.end(2, 100);
        assert_eq!(suspension.lost.load(Ordering::Relaxed), 70);
    }

    #[test]
    fn it_goes_on_while_one_runs() {
        let suspension = unnoticed();
        suspension.begin();
        suspension.note(1, 20);
        suspension.end(2, 100);
        suspension.begin();
        suspension.note(0, 110);
        suspension.end(2, 120);
        assert_eq!(
            suspension.lost.load(Ordering::Relaxed),
            0,
            "the first has stopped then"
        );
    }

    #[test]
    fn real_time_goes_on() {
        let suspension = Suspension::new();
        suspension.begin();
        suspension.note(0, 20);
        suspension.end(1, 100);
        assert_eq!(suspension.lost.load(Ordering::Relaxed), 0);
    }
}
