//! Runs of a VM: start, restart, stop.

pub(crate) mod fault_report;
pub(crate) mod restart_sequence;
pub(crate) mod slot;
pub(crate) mod vcpu_lifecycle;
pub(crate) mod vcpu_run;
pub(crate) mod virtual_time;

pub use slot::SlotLifecycle;
pub use vcpu_lifecycle::{ParkedAction, VcpuLifecycle};
