//! Runs of a VM: start, restart, stop.

pub(crate) mod restart_sequence;
pub(crate) mod vcpu_lifecycle;
pub(crate) mod vcpu_run;
pub(crate) mod virtual_time;

pub use vcpu_lifecycle::{ParkedAction, VcpuLifecycle};
