//! Programs with no kernel below them: what they may do is what they are given.
//!
//! # Purpose
//!
//! A *native task* has a core to itself and is called once on it. It runs linked into Mortise, or is
//! an image of its own at EL1 or EL2 (TenonOS paper, 4.4: applications straight on the
//! hypervisor). What runs it is its [`Host`]; the task sees none of that, and is the same code in
//! all three.
//!
//! # Authority
//!
//! Each right is a value: [`Time`], [`Console`]. A task takes those it needs as arguments, and there
//! is no other way to them: only a [`Grant`] makes one, and only who vouches for a whole core, by
//! an `unsafe` call, makes a grant. So the signature of a task written in safe Rust says all that it
//! can do, and its manifest, `rights = ["time", "console"]`, says the same, in the order of the
//! arguments; a system gives a task these rights, or is refused.
//!
//! # Guarantees
//!
//! Nothing allocates, nothing is formatted by `core::fmt`, and nothing interrupts a task: it waits
//! with interrupts masked, and from its deadline to its next instruction there is what its host does
//! to look at the counter.
//!
//! # Example
//!
//! ```
//! use core_native::{Console, Time};
//!
//! pub fn beat(time: Time, console: Console) {
//!     let mut beats = time.every(1_000_000);
//!     let late = beats.wait();
//!     console.line("the first beat, {} ns late", &[late]);
//! }
//! ```

#![cfg_attr(not(test), no_std)]
#![expect(
    unsafe_code,
    reason = "who makes a grant vouches for a core; the image's tasks are linked by name"
)]

mod text;

pub use text::fill;

/// What runs a native task: what it does for it, on the core that calls.
pub trait Host: Sync {
    /// Nanoseconds of the counter.
    fn now(&self) -> u64;

    /// Returns when the counter has reached so many nanoseconds, at once if it has already.
    fn wait_until(&self, nanoseconds: u64);

    /// Puts bytes on the console, where a line ends with a line feed.
    fn write(&self, bytes: &[u8]);
}

/// A core to run a task on, from which its rights are made.
pub struct Grant {
    host: &'static dyn Host,
}

impl Grant {
    /// The grant of a core whose host is `host`.
    ///
    /// # Safety
    ///
    /// The core is this task's alone for as long as it runs, and `host` is made for it.
    #[must_use]
    pub const unsafe fn new(host: &'static dyn Host) -> Self {
        Self { host }
    }

    /// The right `time`.
    #[must_use]
    pub fn time(&self) -> Time {
        Time { host: self.host }
    }

    /// The right `console`.
    #[must_use]
    pub fn console(&self) -> Console {
        Console { host: self.host }
    }
}

/// To read the counter and to wait for it.
pub struct Time {
    host: &'static dyn Host,
}

impl Time {
    /// Nanoseconds of the counter.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.host.now()
    }

    /// Stands still until the counter has reached so many nanoseconds.
    pub fn wait_until(&self, nanoseconds: u64) {
        self.host.wait_until(nanoseconds);
    }

    /// Releases that far apart, in nanoseconds, the first one that far from now.
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

/// Releases of a periodic task, at absolute times: what takes long delays none that come after.
pub struct Releases {
    time: Time,
    period: u64,
    next: u64,
}

impl Releases {
    /// Waits for the next release; how late it is, in nanoseconds.
    pub fn wait(&mut self) -> u64 {
        let release = self.next;
        self.time.wait_until(release);
        self.next = release.saturating_add(self.period);
        self.time.now().saturating_sub(release)
    }

    /// Gives back the time.
    #[must_use]
    pub fn end(self) -> Time {
        self.time
    }
}

/// To write lines.
pub struct Console {
    host: &'static dyn Host,
}

impl Console {
    /// Writes a line: `text`, in which each `{}` stands for the next of `numbers`, in decimal.
    pub fn line(&self, text: &str, numbers: &[u64]) {
        fill(text, numbers, &mut |bytes| self.host.write(bytes));
        self.host.write(b"\n");
    }
}

/// A task of an image, and where it runs.
pub struct Task {
    /// What its lines begin with.
    pub name: &'static str,
    /// The core that it has to itself.
    pub cpu: usize,
    /// Calls it with its rights.
    pub main: fn(&Grant),
}

/// All tasks of an image.
pub struct Tasks(pub &'static [Task]);

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: the generated image defines it with this type, and nothing writes it.
    safe static NATIVE_TASKS: Tasks;
}

/// On the host there is none.
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

    /// A host whose counter goes on by seven at each look, and to where it is waited for.
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
    fn releases_keep_their_times_whatever_happens_between() {
        let model = model();
        // SAFETY: there is no core; the model is made for that.
        let grant = unsafe { Grant::new(model) };
        let mut releases = grant.time().every(1000);
        assert_eq!(releases.wait(), 0);
        // One takes more than two periods: the next two are late, the third is not.
        model.now.fetch_max(3_400, Ordering::Relaxed);
        assert_eq!(releases.wait(), 1_400);
        assert_eq!(releases.wait(), 407);
        assert_eq!(releases.wait(), 0);
        assert_eq!(model.now.load(Ordering::Relaxed), 4_007);
        assert_eq!(releases.end().now(), 4_007);
    }

    #[test]
    fn a_line_is_whole() {
        let model = model();
        // SAFETY: as above.
        let grant = unsafe { Grant::new(model) };
        grant.console().line("{} of {}", &[3, 10]);
        assert_eq!(*model.written.lock().unwrap(), b"3 of 10\n");
    }
}
