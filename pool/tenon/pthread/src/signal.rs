//! POSIX signals.
//!
//! There is one process, so a signal comes from the program itself: from `kill`, `raise`,
//! `pthread_kill` and `sigqueue`, from timers and message queues. [`deliver`] finds the thread it is
//! for; that thread runs the handler itself, at its next return from the kernel: at once if it is the
//! sender or was preempted, out of its wait if that is one which a signal ends. [`action`] is what is
//! to be done about each signal, [`accept`] is waiting for one.
//!
//! Signals are 1 to 63, those from 32 on realtime signals, of which the lowest pending one comes
//! first and each comes as often as it was sent. What has no stop to come back from, `SIGSTOP` and
//! the default of its like, is an unsupported signal number (POSIX.1-2017, `kill`, EINVAL).
//!
//! Guarantees: sending looks at each thread once. Whatever is sent more often than
//! `TENON_POSIX_SIGNAL_QUEUE` times with a value and not taken is refused, not lost.

pub mod accept;
pub mod action;
pub mod deliver;
pub mod event;
pub mod mask;
pub mod pool;
pub mod send;
pub mod set;

pub use deliver::post;
pub use event::Event;

/// Has threads run handlers of signals; for the beginning of the program.
pub fn begin() {
    crate::wait::set_signal_hook(deliver::handle);
}
