//! Virtual machines that come and go: states, descriptors, authority.
//!
//! # Purpose
//!
//! What must be decided when a guest makes, starts, pauses or destroys another VM, without what
//! carries it out: [`State`] is the machine of a VM's life, [`Descriptor`] what a guest says of the
//! VM it wants, [`Authority`] what it may do to whom, [`Handle`] by what it names one.
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
//! The guest is hostile: any bytes give a checked value or an error, and no state is left but by
//! the events above. No allocation, no lock; every function takes a bounded number of steps.
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
