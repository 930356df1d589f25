//! Adjustments of semaphores, which are applied when their process ends (`SEM_UNDO`).

use crate::semaphore::{SEMAPHORES, adjust};
use tenon_process::{AtEnd, Errno, Frames, Objects, State, has_share};
use tenon_sync::Mutex;

/// Records at most, each of a process and a set, and those of a process.
const RECORDS: u32 = 1024;
const OF_PROCESS: usize = 64;

/// What is added to each semaphore of a set.
pub(crate) type Adjustments = [i16; SEMAPHORES];

/// The adjustments of a process for a set.
#[derive(Debug)]
struct Record {
    process: u32,
    user: u32,
    /// The identifier of the set.
    set: i32,
    adjustments: Adjustments,
}

static ALL: Mutex<Objects<Record>> = Mutex::new(Objects::new(RECORDS));

/// The first record that fits, from a number on.
fn find(all: &Objects<Record>, from: u32, fits: impl Fn(&Record) -> bool) -> Option<u32> {
    let mut numbers = all.numbers(from);
    numbers.find(|number| all.get(*number).is_some_and(&fits))
}

/// Calls `action` with the adjustments of a process for a set, in a copy that is kept if it succeeds.
/// `ENOSPC` without room for them.
pub(crate) fn with<R>(
    state: &mut State,
    (process, set): (u32, i32),
    action: impl FnOnce(&mut Adjustments) -> Result<R, Errno>,
) -> Result<R, Errno> {
    let mut all = ALL.lock().map_err(|_| Errno::EAGAIN)?;
    let found = find(&all, 0, |record| {
        (record.process, record.set) == (process, set)
    });
    let number = match found {
        Some(number) => number,
        None => {
            state.on_end.add(&AT_END);
            let user = state.by_number(process)?.credentials.user().real;
            insert(&mut all, (process, user, set), &mut state.frames)?
        }
    };
    let record = all.get_mut(number).ok_or(Errno::ENOSPC)?;
    let mut adjustments = record.adjustments;
    let result = action(&mut adjustments);
    if result.is_ok() {
        record.adjustments = adjustments;
    }
    if record.adjustments.iter().all(|one| *one == 0) {
        all.remove(number, &mut state.frames);
    }
    result
}

/// Inserts a record without adjustments.
fn insert(
    all: &mut Objects<Record>,
    (process, user, set): (u32, u32, i32),
    frames: &mut Frames,
) -> Result<u32, Errno> {
    let (mut of_process, mut of_user, mut count) = (0, 0, 0);
    for record in all.numbers(0).filter_map(|number| all.get(number)) {
        count += 1;
        of_process += usize::from(record.process == process);
        of_user += u32::from(record.user == user);
    }
    if of_process >= OF_PROCESS || !has_share(count, RECORDS, || of_user) {
        return Err(Errno::ENOSPC);
    }
    let record = Record {
        process,
        user,
        set,
        adjustments: [0; SEMAPHORES],
    };
    all.insert(record, 0, frames).map_err(|_| Errno::ENOSPC)
}

/// Removes the adjustments of a semaphore that all processes have, or those of the whole set.
pub(crate) fn forget(state: &mut State, set: i32, index: Option<usize>) {
    let Ok(mut all) = ALL.lock() else {
        return;
    };
    let mut from = 0;
    while let Some(number) = all.next(from) {
        from = number + 1;
        let Some(record) = all.get_mut(number).filter(|record| record.set == set) else {
            continue;
        };
        match index {
            Some(index) => {
                if let Some(one) = record.adjustments.get_mut(index) {
                    *one = 0;
                }
            }
            None => drop(all.remove(number, &mut state.frames)),
        }
    }
}

static AT_END: AtEnd = AtEnd::new(apply);

/// Applies the adjustments of a process that has ended.
fn apply(state: &mut State, process: u32) {
    let mut from = 0;
    loop {
        let taken = ALL.lock().ok().and_then(|mut all| {
            let number = find(&all, from, |record| record.process == process)?;
            from = number + 1;
            all.remove(number, &mut state.frames)
        });
        let Some(record) = taken else {
            return;
        };
        // A set that was removed has no record.
        let _ = adjust(state, (process, record.set), &record.adjustments);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_a_process_and_of_a_user_are_bounded() {
        let mut frames = Frames::of_host(64);
        let total = frames.available();
        let mut all = Objects::new(RECORDS);
        for set in 0..OF_PROCESS as i32 {
            insert(&mut all, (1, 1000, set), &mut frames).unwrap();
        }
        let full = Err(Errno::ENOSPC);
        assert_eq!(insert(&mut all, (1, 1000, 99), &mut frames), full);
        assert!(insert(&mut all, (2, 1000, 99), &mut frames).is_ok());
        let mut more = |process| insert(&mut all, (process, 1000, 0), &mut frames);
        assert_eq!((100..).map_while(|process| more(process).ok()).count(), 447);
        assert!(insert(&mut all, (3, 1001, 0), &mut frames).is_ok());
        while let Some(number) = find(&all, 0, |_| true) {
            all.remove(number, &mut frames);
        }
        assert_eq!(frames.available(), total);
    }
}
