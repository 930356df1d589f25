//! Native tasks, their rights and their host.

use crate::fill;

/// The environment of a native task. Its functions serve the core that calls them.
pub trait Host: Sync {
    /// The counter, in nanoseconds.
    fn now(&self) -> u64;

    /// Returns when the counter has reached `nanoseconds`, at once if it already has.
    fn wait_until(&self, nanoseconds: u64);

    /// Writes bytes to the console. A line ends with a line feed.
    fn write(&self, bytes: &[u8]);
}

/// A core that is granted to a task; the source of its rights.
pub struct Grant {
    host: &'static dyn Host,
}

impl Grant {
    /// The grant of the core that `host` serves.
    ///
    /// # Safety
    ///
    /// No other code runs on the core while the task runs, and `host` may be called on it.
    #[must_use]
    pub const unsafe fn new(host: &'static dyn Host) -> Self {
        Self { host }
    }

    /// The right `time`.
    #[must_use]
    pub fn time(&self) -> Time {
        Time {
            host: self.host,
            period: None,
        }
    }

    /// The right `console`.
    #[must_use]
    pub fn console(&self) -> Console {
        Console { host: self.host }
    }
}

/// The right to read the counter and to wait for a point in time, with the period that the system
/// states for the task.
pub struct Time {
    host: &'static dyn Host,
    period: Option<u64>,
}

impl Time {
    /// The right with the stated period, in nanoseconds, for the caller of the task.
    #[must_use]
    pub const fn with_period(self, nanoseconds: u64) -> Self {
        Self {
            host: self.host,
            period: Some(nanoseconds),
        }
    }

    /// The period that the system states for the task, in nanoseconds, or `default` without one.
    #[must_use]
    pub fn period_or(&self, default: u64) -> u64 {
        self.period.unwrap_or(default)
    }

    /// The counter, in nanoseconds.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.host.now()
    }

    /// Waits until the counter has reached `nanoseconds`.
    pub fn wait_until(&self, nanoseconds: u64) {
        self.host.wait_until(nanoseconds);
    }

    /// Periodic releases, `period` nanoseconds apart; the first is one period from now.
    #[must_use]
    pub fn every(self, period: u64) -> Releases {
        let next = self.now().saturating_add(period);
        Releases {
            time: self,
            period,
            next,
        }
    }
}

/// Releases of a periodic task at absolute times: a late job does not delay later releases.
pub struct Releases {
    time: Time,
    period: u64,
    next: u64,
}

impl Releases {
    /// Waits for the next release and returns its latency in nanoseconds.
    pub fn wait(&mut self) -> u64 {
        let release = self.next;
        self.time.wait_until(release);
        self.next = release.saturating_add(self.period);
        self.time.now().saturating_sub(release)
    }

    /// Ends the releases and returns the right.
    #[must_use]
    pub fn end(self) -> Time {
        self.time
    }
}

/// The right to write lines.
pub struct Console {
    host: &'static dyn Host,
}

impl Console {
    /// Writes `text` as a line, with each `{}` replaced by the next of `numbers` in decimal.
    pub fn line(&self, text: &str, numbers: &[u64]) {
        fill(text, numbers, &mut |bytes| self.host.write(bytes));
        self.host.write(b"\n");
    }
}

/// A task of an image and its core.
pub struct Task {
    /// Prefix of its lines.
    pub name: &'static str,
    /// The core that it runs on, alone.
    pub cpu: usize,
    /// Calls the task with its rights.
    pub main: fn(&Grant),
}

/// The tasks of an image.
pub struct Tasks(pub &'static [Task]);

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: the generated image defines this static with this type, and it is never written.
    safe static NATIVE_TASKS: Tasks;
}

/// Tests on the host link no task.
#[cfg(not(target_os = "none"))]
static NATIVE_TASKS: Tasks = Tasks(&[]);

/// The tasks of this image.
#[inline(always)]
#[must_use]
pub fn tasks() -> &'static [Task] {
    NATIVE_TASKS.0
}

#[cfg(test)]
mod tests {
    use super::{Grant, Host};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A host with a counter that advances by seven at each read, and to the end of each wait.
    struct Model {
        now: AtomicU64,
        written: Mutex<Vec<u8>>,
    }

    impl Host for Model {
        fn now(&self) -> u64 {
            self.now.fetch_add(7, Ordering::Relaxed)
        }

        fn wait_until(&self, nanoseconds: u64) {
            self.now.fetch_max(nanoseconds, Ordering::Relaxed);
        }

        fn write(&self, bytes: &[u8]) {
            self.written.lock().unwrap().extend_from_slice(bytes);
        }
    }

    fn model() -> &'static Model {
        Box::leak(Box::new(Model {
            now: AtomicU64::new(0),
            written: Mutex::new(Vec::new()),
        }))
    }

    #[test]
    fn a_late_job_does_not_delay_later_releases() {
        let model = model();
        // SAFETY: the model runs no core, and its functions may be called anywhere.
        let grant = unsafe { Grant::new(model) };
        let mut releases = grant.time().every(1000);
        assert_eq!(releases.wait(), 0);
        // One job takes more than two periods: the next two releases are late, the third is not.
        model.now.fetch_max(3_400, Ordering::Relaxed);
        assert_eq!(releases.wait(), 1_400);
        assert_eq!(releases.wait(), 407);
        assert_eq!(releases.wait(), 0);
        assert_eq!(model.now.load(Ordering::Relaxed), 4_007);
        assert_eq!(releases.end().now(), 4_007);
    }

    #[test]
    fn a_period_is_the_stated_one_or_that_of_the_task() {
        let model = model();
        // SAFETY: the model runs no core, and its functions may be called anywhere.
        let grant = unsafe { Grant::new(model) };
        assert_eq!(grant.time().period_or(1_000), 1_000);
        let mut releases = grant.time().with_period(50).every(50);
        assert_eq!(releases.wait(), 0);
        assert_eq!(releases.end().period_or(1_000), 50);
    }

    #[test]
    fn a_line_holds_text_numbers_and_a_line_feed() {
        let model = model();
        // SAFETY: the model runs no core, and its functions may be called anywhere.
        let grant = unsafe { Grant::new(model) };
        grant.console().line("{} of {}", &[3, 10]);
        assert_eq!(*model.written.lock().unwrap(), b"3 of 10\n");
    }
}
