//! Hypercalls of guests: decoding, groups of functions, routing.
//!
//! # Purpose
//!
//! A guest calls by HVC or SMC, following the SMC Calling Convention (Arm DEN 0028, "SMCCC"). A
//! library that handles calls declares a [`Group`]; the generator collects the groups of all chosen
//! libraries in one table and proves at compile time that no two claim the same identifier.
//! [`route`] finds the group of a [`Call`], and replies to unclaimed calls as the convention
//! requires.
//!
//! A group uses the calling vCPU through a [`Caller`], which the library that runs the VMs
//! implements.
//!
//! # Guarantees
//!
//! The guest is untrusted: no register value makes this crate panic. Routing visits each group
//! once; there is no lock and no allocation.
//!
//! # Example
//!
//! ```
//! use mortise_hypercall::{Call, Caller, Group, Outcome, Reply};
//!
//! const ANSWER: u32 = 0xc600_0042;
//! const GROUP: Group = Group {
//!     name: "example",
//!     brief: None,
//!     ranges: &[(ANSWER, ANSWER)],
//!     handle: |call, _caller| Outcome::Return(Reply::value(call.argument(1) + 1)),
//! };
//!
//! # struct Vcpu;
//! # impl Caller for Vcpu {
//! #     fn vcpu(&self) -> usize { 0 }
//! #     fn vcpu_with_affinity(&self, _: u64) -> Option<usize> { None }
//! #     fn power_state(&self, _: usize) -> mortise_hypercall::PowerState { unreachable!() }
//! #     fn has_memory_at(&self, _: u64) -> bool { false }
//! #     fn start_vcpu(&mut self, _: usize, _: mortise_hypercall::Start)
//! #         -> Result<(), mortise_hypercall::PowerState> { unreachable!() }
//! #     fn kick_console(&mut self) -> bool { true }
//! # }
//! # let mut caller = Vcpu;
//! let call = Call::new([u64::from(ANSWER), 41, 0, 0, 0, 0, 0, 0]);
//! let outcome = mortise_hypercall::route(&[&GROUP], &call, &mut caller);
//! assert_eq!(outcome, Outcome::Return(Reply::value(42)));
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod architecture;
mod call;
mod caller;
mod group;
#[cfg(feature = "workarounds")]
mod with_workarounds;

#[cfg(not(feature = "workarounds"))]
pub use architecture::ARCHITECTURE;
pub use architecture::{SMCCC_VERSION, VERSION_1_1};
pub use call::{Call, Outcome, Reply};
pub use caller::{Caller, PowerState, Start};
pub use group::{Brief, Group, disjoint, route};
#[cfg(feature = "workarounds")]
pub use with_workarounds::ARCHITECTURE;
