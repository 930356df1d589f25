//! Exits of guests.

pub(crate) mod devices;
pub(crate) mod exits;
pub(crate) mod fast_exits;
pub(crate) mod hypercalls;

pub use exits::HandleExit;
