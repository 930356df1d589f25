//! The watchdog's eye on a task, in an image that has one; nothing in others.

#[cfg(feature = "watchdog")]
pub use with::Watched;
#[cfg(not(feature = "watchdog"))]
pub use without::Watched;

#[cfg(feature = "watchdog")]
mod with {
    use tenon_thread::time::Duration;
    use tenon_watchdog::Watch;

    /// Periods without a release served, after which a task counts as hung.
    const PERIODS: u64 = 10;

    /// The least time for that: a task is not hung because the machine paused a moment.
    const LEAST: Duration = Duration::from_millis(250);

    /// A task that is watched.
    pub struct Watched(Watch);

    impl Watched {
        /// The current thread, whose task has this period.
        ///
        /// # Panics
        ///
        /// If all watches are taken: a task that is to be watched does not run without.
        pub fn start(period_ns: u64) -> Self {
            let patience = Duration::from_nanos(period_ns.saturating_mul(PERIODS)).max(LEAST);
            match Watch::start(patience) {
                Ok(watch) => Self(watch),
                Err(error) => panic!("no watch for a periodic task: {error}"),
            }
        }

        /// A release was served.
        pub fn check_in(&self) {
            self.0.check_in();
        }
    }
}

#[cfg(not(feature = "watchdog"))]
mod without {
    /// A task that nobody watches.
    pub struct Watched;

    impl Watched {
        /// Does nothing.
        pub fn start(_period_ns: u64) -> Self {
            Self
        }

        /// Does nothing.
        #[expect(clippy::unused_self, reason = "as where there is a watchdog")]
        pub fn check_in(&self) {}
    }
}
