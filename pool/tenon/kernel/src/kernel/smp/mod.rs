//! Several cores: each has its own kernel, and they communicate by inboxes and IPIs.
//!
//! Each thread has a home core, which holds it in its run queue while it is ready. Only the home
//! core accesses the thread's context, its timer and its position in that queue. Another core posts
//! a request for the thread to the inbox of the home core, as one bit, and kicks that core by an
//! SGI if the inbox was empty. Only the home core changes the home: it migrates an unpinned thread
//! once that is ready and its context is saved. A request that reaches a former home core is
//! forwarded.
//!
//! All calls of this module are behind `options::cores() > 1`, a link-time constant, so an image
//! for one core contains none of it.

pub mod core;
mod inbox;
mod placement;
mod timers;

pub use core::KICK_SGI;
