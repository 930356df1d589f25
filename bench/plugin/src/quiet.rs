//! Workaround for a race of QEMU's main loop with WFI.
//!
//! With `-icount` one thread executes all cores, and the main loop advances the clock to the next deadline
//! when all cores are waiting. QEMU marks a core as waiting during its `WFI`, but adds its executed
//! instructions to the clock only later, without a lock in between. If the main loop runs in between,
//! because an earlier deadline has woken it late or a disk's request is done, it advances a stale clock:
//! time is off by those instructions, and the run is not repeatable. So a core accounts for them before
//! its `WFI` (`vcpu::account`). It also executes `WFI` only once the main loop sleeps, which only the
//! core's thread ends, later and under the lock, and the host's input and output.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process;
use std::thread;
use std::time::{Duration, Instant};

/// Host time after which a core no longer waits for the main loop to sleep.
const PATIENCE: Duration = Duration::from_millis(100);

/// The `stat` file of the main loop's thread, which has the number of the process.
#[derive(Debug)]
pub struct MainLoop(Option<File>);

impl MainLoop {
    /// The main loop of this process; never observed if the system does not expose threads.
    pub fn find() -> Self {
        let process = process::id();
        Self(File::open(format!("/proc/self/task/{process}/stat")).ok())
    }

    /// Waits until the main loop sleeps.
    pub fn settle(&self) {
        let Some(stat) = &self.0 else { return };
        let mut since = None;
        while !asleep(stat) {
            if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                return;
            }
            // The main loop may need this processor.
            thread::yield_now();
        }
    }
}

/// Whether a thread sleeps; true if that is unknown.
fn asleep(stat: &File) -> bool {
    let mut text = [0; 64];
    match stat.read_at(&mut text, 0) {
        Ok(length) => state(&text[..length]) == Some(b'S'),
        Err(_) => true,
    }
}

/// The state in a thread's `stat`: the letter behind the last parenthesis.
fn state(stat: &[u8]) -> Option<u8> {
    let name = stat.iter().rposition(|&byte| byte == b')')?;
    stat.get(name + 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_stands_behind_the_name() {
        assert_eq!(state(b"12 (qemu-system-aar) S 1 12"), Some(b'S'));
        assert_eq!(state(b"12 (a) R) R 1"), Some(b'R'));
        assert_eq!(state(b"12 (cut"), None);
    }

    #[test]
    fn a_thread_that_runs_is_not_asleep() {
        let own = File::open("/proc/thread-self/stat").unwrap();
        assert!(!asleep(&own));
    }

    #[test]
    fn what_is_never_seen_is_not_waited_for() {
        let began = Instant::now();
        MainLoop(None).settle();
        assert!(began.elapsed() < PATIENCE);
    }
}
