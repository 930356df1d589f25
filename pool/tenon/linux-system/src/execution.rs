//! Limits of execution time: SIGXCPU at the soft one and each second behind it, SIGKILL at the hard one.
//!
//! One thread looks at the processes with such a limit when the next one can be reached.

use tenon_process::{Limit, State, Target, UNLIMITED, resource, with_state};
use tenon_signal::{Info, code, number};
use tenon_sync::Semaphore;
use tenon_thread::options;
use tenon_thread::thread::{Priority, Storage};
use tenon_thread::time::Instant;

const SECOND: u64 = 1_000_000_000;
/// The least time between two looks: a tick of Linux.
const LEAST: u64 = 4_000_000;

/// The thread that looks.
static SERVICE: Storage<8192> = Storage::new();
/// A limit was set.
static CHANGED: Semaphore = Semaphore::bounded(0, 1);

/// What a process at a time of execution gets by its limit: a signal, and the soft limit from then on;
/// nothing before that, and then how long it takes at least.
fn look(limit: Limit, time: u64) -> Result<(u8, u64), u64> {
    let seconds = time / SECOND;
    if seconds >= limit.hard {
        return Ok((number::KILL, limit.soft));
    }
    if seconds >= limit.soft {
        return Ok((number::XCPU, seconds + 1));
    }
    let next = limit.soft.min(limit.hard).saturating_mul(SECOND);
    Err(next.saturating_sub(time).max(LEAST))
}

/// Serves the process with the lowest number from `from` on; returns the number to go on from, and how
/// long its limit is not reached, if it has one.
fn serve_one(state: &mut State, from: u32) -> Option<(u32, Option<u64>)> {
    let process = state.next_process(from)?;
    let (number, ended) = (process.number, process.end.is_some());
    let next = number + 1;
    let limit = process.limits.get(resource::EXECUTION).ok()?;
    if ended || limit.soft == UNLIMITED && limit.hard == UNLIMITED {
        return Some((next, None));
    }
    let time = state.time_of(number, true).unwrap_or_default();
    match look(limit, time) {
        Err(rest) => Some((next, Some(rest))),
        Ok((signal, soft)) => {
            let info = Info {
                signal,
                code: code::KERNEL,
                ..Info::default()
            };
            if let Ok(process) = state.by_number(number) {
                process.limits.raise_soft(resource::EXECUTION, soft);
            }
            // A process that takes it no more has ended.
            let _ = state.send(Target::Process(number), &info);
            Some((next, Some(LEAST)))
        }
    }
}

/// The body of the thread.
fn serve() {
    loop {
        let (mut from, mut rest) = (0, None);
        while let Some((next, limit)) = with_state(|state| serve_one(state, from)) {
            from = next;
            rest = rest.into_iter().chain(limit).min();
        }
        match rest {
            // A limit that was set ends the wait, as its time does.
            Some(rest) => {
                let now = Instant::now().nanoseconds();
                let until = Instant::from_nanoseconds(now.saturating_add(rest));
                let _ = CHANGED.take_until(until);
            }
            None => CHANGED.take(),
        }
    }
}

/// Has the thread look at all limits.
pub(crate) fn wake() {
    if SERVICE.is_free() {
        let priority = Priority::new(options::process_priority() as u8);
        // Another thread may have started it since.
        let _ = SERVICE.spawn("execution-limits", priority, serve);
    }
    // One wake-up is as good as several.
    let _ = CHANGED.give();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_signal_each_second_and_end_at_the_hard_one() {
        let limit = Limit { soft: 1, hard: 3 };
        assert_eq!(look(limit, SECOND / 2), Err(SECOND / 2));
        assert_eq!(look(limit, SECOND - 1), Err(LEAST));
        assert_eq!(look(limit, SECOND), Ok((number::XCPU, 2)));
        let limit = Limit { soft: 2, hard: 3 };
        assert_eq!(look(limit, SECOND), Err(SECOND));
        assert_eq!(look(limit, 3 * SECOND), Ok((number::KILL, 2)));
        let limit = Limit {
            soft: UNLIMITED,
            hard: UNLIMITED,
        };
        assert!(look(limit, SECOND).is_err());
    }
}
