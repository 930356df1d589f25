//! Instances: states, descriptors and authority of VMs that are made at run time.
//!
//! # Purpose
//!
//! The decisions behind the life cycle hypercalls, without their execution: [`State`] is the state
//! machine of a VM, [`Descriptor`] the description of a VM to create, [`Authority`] what a guest
//! may do to other VMs, [`Handle`] the name of a VM.
//!
//! ```text
//!            CREATE            START            PAUSE
//!    empty ─────────► created ──────► running ◄───────► paused
//!      ▲                 ▲               │      RESUME     │
//!      │                 └── RESTART ────┼─────────────────┤
//!      │                (VM of a file)   ▼                 ▼
//!  destroying ◄── DESTROY, of all ── off, stopped ── RESTART ─► running
//!                                                 (VM with a payload)
//! ```
//!
//! # Guarantees
//!
//! The guest is untrusted: any bytes give a checked value or an error, and only the events above
//! change a state. No allocation, no lock; each function takes a bounded number of steps.
//!
//! # Example
//!
//! ```
//! use mortise_instance::{Event, State};
//!
//! let state = State::Created.after(Event::Start).unwrap();
//! assert_eq!(state, State::Running);
//! assert_eq!(state.after(Event::Load), None, "only before it runs");
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod authority;
mod descriptor;
mod handle;
mod state;

pub use authority::{Authority, Subject};
pub use descriptor::{
    AREAS, BLOCK, Descriptor, Error, Exhausted, Name, RawDescriptor, Schedule, WINDOW_BASE,
    WINDOW_MOST, WINDOW_PAGES,
};
pub use handle::Handle;
pub use state::{Event, State};
