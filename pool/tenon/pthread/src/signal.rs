//! POSIX signals (POSIX.1-2017, 2.4).
//!
//! Signals come from the one process itself: from `kill`, `raise`, `pthread_kill` and `sigqueue`,
//! from timers and message queues. [`deliver`] selects the receiving thread, which runs the handler
//! itself: at once if it is the sender, when it is next scheduled if it was preempted, or out of an
//! interruptible wait. [`action`] holds the action of each signal; [`accept`] waits for signals.
//!
//! Signals are numbered 1 to 63. Those from 32 on are realtime signals: the lowest pending one is
//! delivered first, and each instance is queued. A signal that would stop the process, such
//! as `SIGSTOP`, cannot be sent (POSIX.1-2017, `kill`, EINVAL), as no other process could continue
//! it.
//!
//! Guarantees: sending examines each thread once. When `TENON_POSIX_SIGNAL_QUEUE` signals with
//! values are queued, the next one is refused.

pub mod accept;
pub mod action;
pub mod deliver;
pub mod event;
pub mod mask;
pub mod pool;
pub mod send;
pub mod set;

pub use deliver::post;
pub use event::Notification;

/// Registers the delivery of signals; called before the program starts.
pub fn begin() {
    crate::wait::set_signal_hook(deliver::handle);
}
