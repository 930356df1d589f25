//! Watchdog of a periodic task; without effect in an image without a watchdog.

#[cfg(feature = "watchdog")]
pub use with::Watched;
#[cfg(not(feature = "watchdog"))]
pub use without::Watched;

#[cfg(feature = "watchdog")]
mod with {
    use tenon_thread::time::Duration;
    use tenon_watchdog::Watch;

    /// Periods without a completed job after which a task counts as hung.
    const PERIODS: u64 = 10;

    /// Minimum time until then: a short pause of the machine does not count.
    const LEAST: Duration = Duration::from_millis(250);

    /// Watch of a task.
    pub struct Watched(Watch);

    impl Watched {
        /// Watches the current thread, a task of this period.
        ///
        /// # Panics
        ///
        /// If all watches are in use: a task that is to be watched does not run without a watch.
        pub fn start(period_ns: u64) -> Self {
            let patience = Duration::from_nanos(period_ns.saturating_mul(PERIODS)).max(LEAST);
            match Watch::start(patience) {
                Ok(watch) => Self(watch),
                Err(error) => panic!("no watch for a periodic task: {error}"),
            }
        }

        /// Reports a completed job.
        pub fn check_in(&self) {
            self.0.check_in();
        }
    }
}

#[cfg(not(feature = "watchdog"))]
mod without {
    /// A task without a watch.
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
