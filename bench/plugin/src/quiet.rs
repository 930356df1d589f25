//! The emulator's main loop asleep, before a core waits.
//!
//! With `-icount` one thread executes all cores, and the main loop moves the clock on to the next
//! deadline when it finds every core waiting. QEMU marks a core as waiting in the middle of its `WFI`,
//! but adds the instructions it executed to the clock only after that, and holds no lock in between.
//! A main loop that looks just then, because the deadline before has woken it a little late, moves
//! the clock on from where it no longer is: time is too far by those instructions, and the run is not
//! the one it was before. A main loop that sleeps is woken by the core's thread alone, later and
//! under the lock, so a core executes its `WFI` once it does.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process;
use std::thread;
use std::time::{Duration, Instant};

/// Host time after which a main loop that does not fall asleep is let be.
const PATIENCE: Duration = Duration::from_millis(100);

/// The view of the main loop's thread, which has the process's number.
#[derive(Debug)]
pub struct MainLoop(Option<File>);

impl MainLoop {
    /// The main loop of this process; one that is never seen if the system does not show threads.
    pub fn find() -> Self {
        let process = process::id();
        Self(File::open(format!("/proc/self/task/{process}/stat")).ok())
    }

    /// Lets it do what it was woken for.
    pub fn settle(&self) {
        let Some(stat) = &self.0 else { return };
        let mut since = None;
        while !asleep(stat) {
            if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                return;
            }
            // It may need this very processor.
            thread::yield_now();
        }
    }
}

/// Whether a thread sleeps, as far as can be told.
fn asleep(stat: &File) -> bool {
    let mut text = [0; 64];
    match stat.read_at(&mut text, 0) {
        Ok(length) => state(&text[..length]) == Some(b'S'),
        Err(_) => true,
    }
}

/// The state in a thread's `stat`: the letter behind its name, which ends with the last parenthesis.
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
