//! Timers that wake threads.

use crate::thread::Thread;

/// A one-shot timer.
pub type Timer = tenon_timer::Timer<Thread>;

/// A periodic timer.
pub type PeriodicTimer = tenon_timer::PeriodicTimer<Thread>;

/// What a timer does when it expires.
pub type Action = tenon_timer::Action<Thread>;
