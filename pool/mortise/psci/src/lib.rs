//! Virtual PSCI 1.1: guests start and stop their vCPUs and their VM.
//!
//! # Purpose
//!
//! PSCI (Arm DEN 0022) is the interface by which an operating system controls the power of its cores. A
//! guest calls it as on hardware. [`GROUP`] serves the calls, for vCPUs of the calling VM only.
//! [`Power`] holds their power states and the end of the VM's run, for the library that runs them.
//!
//! | function | answer |
//! |---|---|
//! | PSCI_VERSION, PSCI_FEATURES | 1.1, and the supported functions |
//! | CPU_ON | starts a vCPU that is off, at an address in the VM's memory |
//! | CPU_OFF | does not return |
//! | CPU_SUSPEND | returns at once, as with a pending wake-up event |
//! | AFFINITY_INFO | the state of the vCPU |
//! | MIGRATE_INFO_TYPE | no trusted OS that requires migration |
//! | SYSTEM_OFF, SYSTEM_RESET, SYSTEM_RESET2 (warm) | do not return |
//!
//! # Guarantees
//!
//! Every argument is checked; none can panic or reach another VM. Each call takes bounded time, no
//! lock of its own and no allocation.
//!
//! # Example
//!
//! ```
//! use mortise_hypercall::{PowerState, Start};
//! use mortise_psci::{NextAction, Power};
//!
//! let start = Start { entry: 0x4000_0000, argument: 0 };
//! let mut power = Power::new(2, 0);
//! power.begin_run(start);
//! assert_eq!(power.next_action(0), NextAction::Start(start));
//! let kicks = power.request_on(1, start).unwrap();
//! assert_eq!(kicks.iter().next(), Some(1)); // its core must be kicked
//! assert_eq!(power.state(1), PowerState::OnPending);
//! assert_eq!(power.next_action(1), NextAction::Start(start));
//! assert_eq!(power.state(1), PowerState::On);
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod functions;
mod power;

pub use functions::{GROUP, VERSION};
pub use power::{FIRST_VCPU, Loan, MAX_VCPUS, NextAction, Power, RunEnd, VcpuSet};
