//! [`semget`], [`semop`], [`semtimedop`] and [`semctl`]: sets of semaphores.

use crate::object::{HEAD, Object, Objects, Permission, REMOVED, command, flag, interrupted, now};
use crate::undo::{self, Adjustments};
use core::fmt::Write as _;
use tenon_fs_proc::{List, Setting, provide};
use tenon_process::{Caller, Errno, Side, State, timespec, user_memory, with_state};
use tenon_sync::Mutex;

/// Sets at most, as in Linux.
const SETS: u32 = 32_000;
/// Semaphores of a set at most.
pub(crate) const SEMAPHORES: usize = 128;
/// Operations of a call at most.
const OPERATIONS: usize = 128;
/// The largest value.
const LARGEST: i32 = 32_767;
/// Permission to read, to change.
const READ: u32 = 4;
const CHANGE: u32 = 2;

#[derive(Clone, Copy, Debug, Default)]
struct Semaphore {
    value: u16,
    /// Threads that wait for a larger value, and for zero.
    waiters: [u8; 2],
    /// The process of the last operation.
    process: u32,
}

#[derive(Debug)]
struct Set {
    permission: Permission,
    count: usize,
    /// Seconds of the last operation and of the last change.
    times: [u64; 2],
    semaphores: [Semaphore; SEMAPHORES],
}

impl Object for Set {
    fn permission(&mut self) -> &mut Permission {
        &mut self.permission
    }

    fn permission_of(&self) -> &Permission {
        &self.permission
    }
}

impl Set {
    fn get(&mut self, index: i32) -> Result<&mut Semaphore, Errno> {
        let index = usize::try_from(index).map_err(|_| Errno::EINVAL)?;
        let all = self.semaphores.get_mut(..self.count);
        all.and_then(|all| all.get_mut(index)).ok_or(Errno::EINVAL)
    }

    /// `struct semid64_ds`.
    fn status(&self) -> [u8; 88] {
        let mut bytes = [0; 88];
        self.permission.put(&mut bytes);
        let words = [self.times[0], self.times[1], self.count as u64];
        for (place, word) in bytes[HEAD..].chunks_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Does all operations, or none of them where one has to wait: then its semaphore, and whether it
    /// waits for zero. What undoes them is taken from the adjustments.
    fn operate(
        &mut self,
        all: &[Operation],
        process: u32,
        adjustments: &mut Adjustments,
    ) -> Result<Option<(usize, bool)>, Errno> {
        let mut done = self.semaphores;
        let mut adjusted = *adjustments;
        for operation in all {
            let semaphore = done.get_mut(operation.index).ok_or(Errno::EFBIG)?;
            let value = i32::from(semaphore.value) + operation.change;
            if operation.change == 0 && value != 0 || value < 0 {
                if operation.no_wait {
                    return Err(Errno::EAGAIN);
                }
                return Ok(Some((operation.index, operation.change == 0)));
            }
            if value > LARGEST {
                return Err(Errno::ERANGE);
            }
            if operation.undo {
                let place = adjusted.get_mut(operation.index).ok_or(Errno::EFBIG)?;
                let value = i32::from(*place) - operation.change;
                *place = i16::try_from(value).map_err(|_| Errno::ERANGE)?;
            }
            (semaphore.value, semaphore.process) = (value as u16, process);
        }
        (self.semaphores, *adjustments) = (done, adjusted);
        Ok(None)
    }
}

/// An operation of `semop`.
#[derive(Clone, Copy, Debug, Default)]
struct Operation {
    index: usize,
    change: i32,
    no_wait: bool,
    /// The end of the process undoes it.
    undo: bool,
}

static SETS_OF_ALL: Mutex<Objects<Set>> = Mutex::new(Objects::new(SETS));

/// Calls `action` with the state and all sets.
fn with<R>(
    action: impl FnOnce(&mut State, &mut Objects<Set>) -> Result<R, Errno>,
) -> Result<R, Errno> {
    with_state(|state| within(state, action))
}

fn within<R>(
    state: &mut State,
    action: impl FnOnce(&mut State, &mut Objects<Set>) -> Result<R, Errno>,
) -> Result<R, Errno> {
    let mut sets = SETS_OF_ALL.lock().map_err(|_| Errno::EAGAIN)?;
    action(state, &mut sets)
}

/// `semget`: the set of a key, or a new one.
pub fn semget(caller: &Caller) -> Result<u64, Errno> {
    let (key, count, flags) = (caller.int(0), caller.int(1), caller.int(2) as u32);
    let count = usize::try_from(count).map_err(|_| Errno::EINVAL)?;
    if count > SEMAPHORES {
        return Err(Errno::EINVAL);
    }
    provide(List::Semaphores, |_, from, line| {
        let sets = SETS_OF_ALL.lock().ok()?;
        let (place, set) = sets.all_from(from).next()?;
        let (last, changed) = (set.times[0], set.times[1]);
        let (count, who) = (set.count, set.permission.owners());
        set.permission.begin_line(place, line);
        let _ = writeln!(line, " {count:>10} {who} {last:>10} {changed:>10}");
        Some(place + 1)
    });
    with(|state, sets| {
        if let Some((identifier, set)) = sets.find(state, caller, (key, flags))? {
            let fits = count <= set.count;
            return fits.then_some(identifier).ok_or(Errno::EINVAL);
        }
        if count == 0 {
            return Err(Errno::EINVAL);
        }
        let set = Set {
            permission: Permission::of(state, caller, key, flags)?,
            count,
            times: [0, now()],
            semaphores: [Semaphore::default(); SEMAPHORES],
        };
        let next = Setting::NextSemaphores.take();
        let inserted = sets.insert(set, next, &mut state.frames);
        inserted.map_err(|_| Errno::ENOSPC)
    })
}

/// `semop`.
pub fn semop(caller: &Caller) -> Result<u64, Errno> {
    operate(caller, None)
}

/// `semtimedop`.
pub fn semtimedop(caller: &Caller) -> Result<u64, Errno> {
    if caller.argument(3) == 0 {
        return operate(caller, None);
    }
    let timeout = timespec(user_memory::words(caller, caller.address(3))?)?;
    operate(caller, Some(timeout))
}

fn operate(caller: &Caller, timeout: Option<core::time::Duration>) -> Result<u64, Errno> {
    const MOST: usize = 500;
    const SIZE: usize = 6;
    const UNDO: u32 = 0x1000;
    let (identifier, count) = (caller.int(0), caller.address(2));
    match count {
        0 => return Err(Errno::EINVAL),
        _ if count > MOST => return Err(Errno::E2BIG),
        _ if count > OPERATIONS => return Err(Errno::ENOMEM),
        _ => {}
    }
    let mut bytes = [0; SIZE * OPERATIONS];
    let part = bytes.get_mut(..count * SIZE).ok_or(Errno::E2BIG)?;
    with_state(|state| user_memory::read(state, caller, caller.address(1), part))?;
    let mut all = [Operation::default(); OPERATIONS];
    let (mut changes, mut undoes) = (false, false);
    for (operation, bytes) in all.iter_mut().zip(part.chunks(SIZE)) {
        let half = |at: usize| i16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let flags = u32::from(half(4).cast_unsigned());
        *operation = Operation {
            index: usize::from(half(0).cast_unsigned()),
            change: half(2).into(),
            no_wait: flags & flag::NO_WAIT != 0,
            undo: flags & UNDO != 0,
        };
        changes |= operation.change != 0;
        undoes |= operation.undo;
    }
    let all = &all[..count];
    let deadline = timeout.map(|timeout| caller.deadline(timeout));
    let process = caller.process();
    // Where the thread is counted as one that waits.
    let mut counted: Option<(usize, bool)> = None;
    let mut begun = false;
    let done = caller.wait_events(deadline, |state| {
        within(state, |state, sets| {
            let set = sets.get_mut(identifier);
            let set = set.map_err(|error| if begun { REMOVED } else { error })?;
            begun = true;
            count_waiter(set, counted.take(), false);
            if all.iter().any(|operation| operation.index >= set.count) {
                return Err(Errno::EFBIG);
            }
            let wanted = if changes { CHANGE } else { READ };
            set.permission.check(state, caller, wanted)?;
            let done = if undoes {
                undo::with(state, (process, identifier), |adjustments| {
                    set.operate(all, process, adjustments)
                })?
            } else {
                set.operate(all, process, &mut [0; SEMAPHORES])?
            };
            match done {
                None => {
                    set.times[0] = now();
                    sets.changed(state);
                    Ok(Some(()))
                }
                Some(place) => {
                    count_waiter(set, Some(place), true);
                    counted = Some(place);
                    let source = sets.source(state, caller)?;
                    caller.enlist(state, source, Side::Poll)?;
                    Ok(None)
                }
            }
        })
    });
    if counted.is_some() {
        // It may have been removed meanwhile.
        let _ = with(|_, sets| {
            count_waiter(sets.get_mut(identifier)?, counted, false);
            Ok(())
        });
    }
    done.map_err(interrupted)?.map(|()| 0).ok_or(Errno::EAGAIN)
}

/// Adds the adjustments of a process that has ended to a set.
pub(crate) fn adjust(
    state: &mut State,
    (process, identifier): (u32, i32),
    adjustments: &Adjustments,
) -> Result<(), Errno> {
    within(state, |state, sets| {
        let set = sets.get_mut(identifier)?;
        for (semaphore, change) in set.semaphores.iter_mut().zip(adjustments) {
            if *change != 0 {
                let value = i32::from(semaphore.value) + i32::from(*change);
                let value = value.clamp(0, LARGEST) as u16;
                (semaphore.value, semaphore.process) = (value, process);
            }
        }
        set.times[0] = now();
        sets.changed(state);
        Ok(())
    })
}

/// Counts a thread that waits, or no longer does.
fn count_waiter(set: &mut Set, place: Option<(usize, bool)>, waits: bool) {
    if let Some((index, zero)) = place
        && let Some(semaphore) = set.semaphores.get_mut(index)
    {
        let count = &mut semaphore.waiters[usize::from(zero)];
        *count = count.saturating_add_signed(if waits { 1 } else { -1 });
    }
}

/// `semctl`.
pub fn semctl(caller: &Caller) -> Result<u64, Errno> {
    const GET_PROCESS: i32 = 11;
    const GET: i32 = 12;
    const GET_ALL: i32 = 13;
    const COUNT_LARGER: i32 = 14;
    const COUNT_ZERO: i32 = 15;
    const SET_ONE: i32 = 16;
    const SET_ALL: i32 = 17;
    const STATUS_AT: i32 = 18;
    const INFORMATION: i32 = 19;
    const STATUS_AT_ANY: i32 = 20;
    let (identifier, index, what) = (caller.int(0), caller.int(1), caller.int(2));
    let to = caller.address(3);
    with(|state, sets| match what {
        command::INFORMATION | INFORMATION => {
            let mut words = [
                SETS as i32,
                SETS as i32,
                SETS as i32 * SEMAPHORES as i32,
                SETS as i32 * SEMAPHORES as i32,
                SEMAPHORES as i32,
                OPERATIONS as i32,
                OPERATIONS as i32,
                20,
                LARGEST,
                LARGEST,
            ];
            if what == INFORMATION {
                words[7] = sets.all().count() as i32;
                words[9] = sets.all().map(|(_, set)| set.count as i32).sum();
            }
            let bytes = words.map(i32::to_le_bytes);
            user_memory::write(state, caller, to, bytes.as_flattened())?;
            Ok(sets.highest())
        }
        STATUS_AT | STATUS_AT_ANY => {
            let (found, set) = sets.at(identifier)?;
            if what == STATUS_AT {
                set.permission.check(state, caller, READ)?;
            }
            user_memory::write(state, caller, to, &set.status())?;
            Ok(found)
        }
        command::STATUS => {
            let set = sets.get_mut(identifier)?;
            set.permission.check(state, caller, READ)?;
            user_memory::write(state, caller, to, &set.status())?;
            Ok(0)
        }
        command::SET => {
            let set = sets.get_mut(identifier)?;
            let mut bytes = [0; HEAD];
            user_memory::read(state, caller, to, &mut bytes)?;
            set.permission.check_owner(state, caller)?;
            set.permission.set(&bytes);
            set.times[1] = now();
            Ok(0)
        }
        command::REMOVE => {
            let set = sets.get_mut(identifier)?;
            set.permission.check_owner(state, caller)?;
            sets.remove(identifier, &mut state.frames)?;
            undo::forget(state, identifier, None);
            sets.changed(state);
            Ok(0)
        }
        GET | GET_PROCESS | COUNT_LARGER | COUNT_ZERO => {
            let set = sets.get_mut(identifier)?;
            set.permission.check(state, caller, READ)?;
            let semaphore = set.get(index)?;
            Ok(match what {
                GET => semaphore.value.into(),
                GET_PROCESS => semaphore.process.into(),
                COUNT_LARGER => semaphore.waiters[0].into(),
                _ => semaphore.waiters[1].into(),
            })
        }
        GET_ALL => {
            let set = sets.get_mut(identifier)?;
            set.permission.check(state, caller, READ)?;
            let values = set.semaphores.map(|one| one.value.to_le_bytes());
            let part = values.get(..set.count).unwrap_or_default();
            user_memory::write(state, caller, to, part.as_flattened())?;
            Ok(0)
        }
        SET_ONE => {
            let set = sets.get_mut(identifier)?;
            set.permission.check(state, caller, CHANGE)?;
            let semaphore = set.get(index)?;
            let value = caller.int(3);
            if !(0..=LARGEST).contains(&value) {
                return Err(Errno::ERANGE);
            }
            (semaphore.value, semaphore.process) = (value as u16, caller.process());
            set.times[1] = now();
            undo::forget(state, identifier, usize::try_from(index).ok());
            sets.changed(state);
            Ok(0)
        }
        SET_ALL => {
            let set = sets.get_mut(identifier)?;
            set.permission.check(state, caller, CHANGE)?;
            let mut bytes = [[0; 2]; SEMAPHORES];
            let part = bytes.get_mut(..set.count).unwrap_or_default();
            user_memory::read(state, caller, to, part.as_flattened_mut())?;
            let values = bytes.map(u16::from_le_bytes);
            if values.iter().any(|value| i32::from(*value) > LARGEST) {
                return Err(Errno::ERANGE);
            }
            for (semaphore, value) in set.semaphores.iter_mut().zip(values) {
                (semaphore.value, semaphore.process) = (value, caller.process());
            }
            set.times[1] = now();
            undo::forget(state, identifier, None);
            sets.changed(state);
            Ok(0)
        }
        _ => Err(Errno::EINVAL),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(values: [u16; 2]) -> Set {
        let mut semaphores = [Semaphore::default(); SEMAPHORES];
        for (semaphore, value) in semaphores.iter_mut().zip(values) {
            semaphore.value = value;
        }
        Set {
            permission: Permission::default(),
            count: 2,
            times: [0; 2],
            semaphores,
        }
    }

    fn change(index: usize, change: i32) -> Operation {
        Operation {
            index,
            change,
            no_wait: false,
            undo: false,
        }
    }

    fn operate(set: &mut Set, all: &[Operation]) -> Result<Option<(usize, bool)>, Errno> {
        set.operate(all, 5, &mut [0; SEMAPHORES])
    }

    #[test]
    fn all_operations_are_done_or_none() {
        let mut one = set([1, 0]);
        // The second one waits for a larger value.
        let waits = operate(&mut one, &[change(0, -1), change(1, -1)]);
        assert_eq!(waits, Ok(Some((1, false))));
        assert_eq!(one.semaphores[0].value, 1);
        // This one waits for zero.
        assert_eq!(operate(&mut one, &[change(0, 0)]), Ok(Some((0, true))));
        let now = [Operation {
            no_wait: true,
            ..change(1, -1)
        }];
        assert_eq!(operate(&mut one, &now), Err(Errno::EAGAIN));
        let too_large = operate(&mut one, &[change(1, 1), change(0, LARGEST)]);
        assert_eq!(too_large, Err(Errno::ERANGE));
        assert_eq!(one.semaphores[1].value, 0);
    }

    #[test]
    fn operations_are_undone_within_the_range() {
        let undone = |index, by| Operation {
            undo: true,
            ..change(index, by)
        };
        let (mut one, mut adjustments) = (set([1, 0]), [0; SEMAPHORES]);
        let all = [undone(0, -1), undone(1, 7), change(1, 1)];
        assert_eq!(one.operate(&all, 5, &mut adjustments), Ok(None));
        assert_eq!(adjustments[..2], [1, -7]);
        // What waits is not adjusted.
        let waits = one.operate(&[undone(1, 1), undone(0, -1)], 5, &mut adjustments);
        assert_eq!(waits, Ok(Some((0, false))));
        assert_eq!(adjustments[..2], [1, -7]);
        adjustments[0] = i16::MIN;
        let range = one.operate(&[undone(0, 1)], 5, &mut adjustments);
        assert_eq!((range, one.semaphores[0].value), (Err(Errno::ERANGE), 0));
    }

    #[test]
    fn values_are_those_of_a_set() {
        let mut one = set([3, 4]);
        assert_eq!(one.get(1).map(|one| one.value), Ok(4));
        assert!(one.get(2).is_err());
        assert!(one.get(-1).is_err());
        assert_eq!(one.status()[64], 2);
    }
}
