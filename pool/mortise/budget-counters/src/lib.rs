//! Counters of the budgets of vCPUs, in the status pages of their VMs.
//!
//! # Purpose
//!
//! A budget that a VM exhausts, or never needs, is seen from outside without a trace: the dispatcher
//! reports each period that has ended, and the counters are in the VM's status page, where the host
//! reads them. Guests map the page read-only, so that none can forge the figures of itself or another.
//!
//! # Guarantees
//!
//! To name this crate is the choice: an image without it has no instruction of it. A period is counted
//! by a fixed number of loads and stores, without a lock, when the budget is replenished. A VM that is
//! blocked at the end of a period counts it when it next wakes.

#![no_std]
#![forbid(unsafe_code)]

use core_sched::{EndedPeriods, Policy};
use core_statistics::BudgetCount;
use mortise_partition::Vcpu;

/// Starts to count the use of a vCPU's budget, or states that it has none; returns its counters.
#[cold]
#[inline(never)]
pub fn begin((vm, vcpu): Vcpu, policy: Policy) -> Option<BudgetCount<'static>> {
    let (budget, period) = match policy {
        Policy::Fixed => (0, 0),
        Policy::Reserved(own) | Policy::Deadline(own) => (own.budget(), own.period()),
    };
    vm.status
        .budget(vcpu)
        .inspect(|count| count.begin(budget, period))
}

/// Counts periods that have ended.
#[inline(always)]
pub fn count(count: BudgetCount<'static>, ended: EndedPeriods) {
    if let Some(used) = ended.used {
        count.add(1, used);
    }
    if ended.further > 0 {
        count_further(count, ended.further, ended.used_further);
    }
}

#[cold]
#[inline(never)]
fn count_further(count: BudgetCount<'static>, periods: u64, used: u64) {
    count.add(periods, used);
}
