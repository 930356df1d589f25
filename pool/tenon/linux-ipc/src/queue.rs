//! [`msgget`], [`msgsnd`], [`msgrcv`] and [`msgctl`]: queues of messages.

use crate::object::{
    HEAD, NO_MESSAGE, Object, Objects, Permission, REMOVED, command, flag, interrupted, now,
};
use core::fmt::Write as _;
use tenon_fs_proc::{List, Setting, provide};
use tenon_linux_files::content::{copy_in, copy_out};
use tenon_process::{Caller, Errno, Side, State, user_memory, with_state};
use tenon_sync::Mutex;

/// Queues at most, as in Linux.
const QUEUES: u32 = 32_000;
/// Bytes of a message at most.
const MESSAGE: usize = 8192;
/// Bytes of a queue at most, unless it is given another number.
const BYTES: u64 = 16_384;
/// Messages of a queue at most.
const MESSAGES: u64 = 1024;
/// Bytes that are copied at a time.
const PIECE: usize = 512;
/// Bytes in front of a message: its type and its length.
const FRONT: u64 = 16;
/// Permission to receive, to send.
const READ: u32 = 4;
const CHANGE: u32 = 2;

#[derive(Debug)]
struct Queue {
    permission: Permission,
    /// The file that has the messages, one behind the other, and their end.
    file: u32,
    end: u64,
    count: u64,
    bytes: u64,
    most: u64,
    /// Seconds of the last sending, the last receipt and the last change.
    times: [u64; 3],
    /// The processes of the last sending and receipt.
    processes: [u32; 2],
}

impl Object for Queue {
    fn permission(&mut self) -> &mut Permission {
        &mut self.permission
    }

    fn permission_of(&self) -> &Permission {
        &self.permission
    }
}

/// What a message is received by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Any,
    Type(i64),
    NotType(i64),
    /// The lowest type up to this one.
    UpTo(i64),
    /// The one at this place, which stays.
    At(u64),
}

impl Queue {
    /// `struct msqid64_ds`.
    fn status(&self) -> [u8; 120] {
        let mut bytes = [0; 120];
        self.permission.put(&mut bytes);
        let processes = u64::from(self.processes[0]) | u64::from(self.processes[1]) << 32;
        let [sent, received, changed] = self.times;
        let words = [
            sent, received, changed, self.bytes, self.count, self.most, processes,
        ];
        for (place, word) in bytes[HEAD..].chunks_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Whether there is room for a message.
    fn has_room(&self, length: usize) -> bool {
        let bytes = self.bytes + length as u64;
        bytes <= self.most && self.count < self.most.min(MESSAGES)
    }

    /// The place, the type and the length of a message that is wanted.
    fn find(&self, state: &State, wanted: Wanted) -> Result<Option<(u64, i64, u64)>, Errno> {
        let (mut at, mut index) = (0, 0);
        let mut best: Option<(u64, i64, u64)> = None;
        while at < self.end {
            let mut front = [[0; 8]; 2];
            let files = &state.files.tree.files;
            files.read(self.file, at, front.as_flattened_mut())?;
            let [kind, length] = front.map(u64::from_le_bytes);
            let kind = kind as i64;
            let fits = match wanted {
                Wanted::Any => true,
                Wanted::Type(wanted) => kind == wanted,
                Wanted::NotType(other) => kind != other,
                Wanted::UpTo(most) => kind <= most && best.is_none_or(|(_, best, _)| kind < best),
                Wanted::At(place) => index == place,
            };
            if fits {
                best = Some((at, kind, length));
                if !matches!(wanted, Wanted::UpTo(_)) {
                    break;
                }
            }
            at += FRONT + length;
            index += 1;
        }
        Ok(best)
    }

    /// Takes a message out.
    fn take(&mut self, state: &mut State, (at, length): (u64, u64)) -> Result<(), Errno> {
        let mut from = at + FRONT + length;
        let mut to = at;
        while from < self.end {
            let mut piece = [0; PIECE];
            let part = (self.end - from).min(PIECE as u64) as usize;
            let files = &mut state.files.tree.files;
            files.read(self.file, from, &mut piece[..part])?;
            files.write(self.file, to, &piece[..part], &mut state.frames)?;
            from += part as u64;
            to += part as u64;
        }
        self.end = to;
        self.count -= 1;
        self.bytes -= length;
        Ok(())
    }
}

static QUEUES_OF_ALL: Mutex<Objects<Queue>> = Mutex::new(Objects::new(QUEUES));

/// Calls `action` with the state and all queues.
fn with<R>(
    action: impl FnOnce(&mut State, &mut Objects<Queue>) -> Result<R, Errno>,
) -> Result<R, Errno> {
    with_state(|state| within(state, action))
}

fn within<R>(
    state: &mut State,
    action: impl FnOnce(&mut State, &mut Objects<Queue>) -> Result<R, Errno>,
) -> Result<R, Errno> {
    let mut queues = QUEUES_OF_ALL.lock().map_err(|_| Errno::EAGAIN)?;
    action(state, &mut queues)
}

/// `msgget`: the queue of a key, or a new one.
pub fn msgget(caller: &Caller) -> Result<u64, Errno> {
    let (key, flags) = (caller.int(0), caller.int(1) as u32);
    provide(List::Queues, |_, from, line| {
        let queues = QUEUES_OF_ALL.lock().ok()?;
        let (place, queue) = queues.all_from(from).next()?;
        let ([sent, received, changed], who) = (queue.times, queue.permission.owners());
        let ([sender, receiver], bytes, count) = (queue.processes, queue.bytes, queue.count);
        queue.permission.begin_line(place, line);
        let _ = writeln!(
            line,
            "  {bytes:>10} {count:>10} {sender:>5} {receiver:>5} {who} {sent:>10} {received:>10} {changed:>10}"
        );
        Some(place + 1)
    });
    with(|state, queues| {
        if let Some((identifier, _)) = queues.find(state, caller, (key, flags))? {
            return Ok(identifier);
        }
        let permission = Permission::of(state, caller, key, flags)?;
        if queues.count() >= Setting::Queues.limit() {
            return Err(Errno::ENOSPC);
        }
        let frames = &mut state.frames;
        let file = state.files.tree.files.create_unnamed(0, frames)?;
        let queue = Queue {
            permission,
            file,
            end: 0,
            count: 0,
            bytes: 0,
            most: BYTES,
            times: [0, 0, now()],
            processes: [0; 2],
        };
        let next = Setting::NextQueue.take();
        queues.insert(queue, next, frames).map_err(|_| {
            state.files.tree.files.let_go(file, frames);
            Errno::ENOSPC
        })
    })
}

/// Waits until an attempt with a queue has a result.
fn wait<R>(
    caller: &Caller,
    (wanted, waits): (u32, Result<(), Errno>),
    mut attempt: impl FnMut(&mut State, &mut Queue) -> Result<Option<R>, Errno>,
) -> Result<R, Errno> {
    let mut begun = false;
    let done = caller.wait_events(None, |state| {
        within(state, |state, queues| {
            let queue = queues.get_mut(caller.int(0));
            let queue = queue.map_err(|error| if begun { REMOVED } else { error })?;
            begun = true;
            queue.permission.check(state, caller, wanted)?;
            if let Some(result) = attempt(state, queue)? {
                queues.changed(state);
                return Ok(Some(result));
            }
            waits?;
            let source = queues.source(state, caller)?;
            caller.enlist(state, source, Side::Poll)?;
            Ok(None)
        })
    });
    done.map_err(interrupted)?.ok_or(Errno::EINTR)
}

/// `msgsnd`.
pub fn msgsnd(caller: &Caller) -> Result<u64, Errno> {
    let (from, length) = (caller.address(1), caller.address(2));
    let flags = caller.int(3) as u32;
    let [kind] = user_memory::words(caller, from)?;
    if length > MESSAGE || (kind as i64) < 1 || caller.int(0) < 0 {
        return Err(Errno::EINVAL);
    }
    let waits = (flags & flag::NO_WAIT == 0)
        .then_some(())
        .ok_or(Errno::EAGAIN);
    wait(caller, (CHANGE, waits), |state, queue| {
        if !queue.has_room(length) {
            return Ok(None);
        }
        let front = [kind, length as u64].map(u64::to_le_bytes);
        let files = &mut state.files.tree.files;
        let bytes = front.as_flattened();
        if files.write(queue.file, queue.end, bytes, &mut state.frames)? < bytes.len() {
            return Err(Errno::ENOMEM);
        }
        let place = (queue.file, queue.end + FRONT);
        copy_in(state, caller, from.wrapping_add(8), place, length)?;
        queue.end += FRONT + length as u64;
        queue.count += 1;
        queue.bytes += length as u64;
        queue.times[0] = now();
        queue.processes[0] = caller.process();
        Ok(Some(0))
    })
}

/// `msgrcv`.
pub fn msgrcv(caller: &Caller) -> Result<u64, Errno> {
    const CUTS: u32 = 0o10000;
    const EXCEPT: u32 = 0o20000;
    const COPIES: u32 = 0o40000;
    let (to, length) = (caller.address(1), caller.argument(2));
    let (kind, flags) = (caller.argument(3) as i64, caller.int(4) as u32);
    if length > i64::MAX as u64 || caller.int(0) < 0 {
        return Err(Errno::EINVAL);
    }
    let wanted = match kind {
        _ if flags & COPIES != 0 => {
            if flags & EXCEPT != 0 || flags & flag::NO_WAIT == 0 {
                return Err(Errno::EINVAL);
            }
            Wanted::At(kind as u64)
        }
        0 => Wanted::Any,
        1.. if flags & EXCEPT != 0 => Wanted::NotType(kind),
        1.. => Wanted::Type(kind),
        _ => Wanted::UpTo(kind.checked_neg().unwrap_or(i64::MAX)),
    };
    let waits = (flags & flag::NO_WAIT == 0).then_some(()).ok_or(NO_MESSAGE);
    wait(caller, (READ, waits), |state, queue| {
        let Some((at, kind, whole)) = queue.find(state, wanted)? else {
            return Ok(None);
        };
        if whole > length && flags & CUTS == 0 {
            return Err(Errno::E2BIG);
        }
        let part = whole.min(length);
        user_memory::write(state, caller, to, &kind.to_le_bytes())?;
        let place = (queue.file, at + FRONT);
        copy_out(state, caller, place, to.wrapping_add(8), part as usize)?;
        if !matches!(wanted, Wanted::At(_)) {
            queue.take(state, (at, whole))?;
            queue.times[1] = now();
            queue.processes[1] = caller.process();
        }
        Ok(Some(part))
    })
}

/// `msgctl`.
pub fn msgctl(caller: &Caller) -> Result<u64, Errno> {
    const STATUS_AT: i32 = 11;
    const INFORMATION: i32 = 12;
    const STATUS_AT_ANY: i32 = 13;
    let (identifier, what, to) = (caller.int(0), caller.int(1), caller.address(2));
    let done = with(|state, queues| match what {
        command::INFORMATION | INFORMATION => {
            let mut words = [
                QUEUES as i32,
                QUEUES as i32,
                MESSAGE as i32,
                BYTES as i32,
                QUEUES as i32,
                16,
                QUEUES as i32,
                0xffff,
            ];
            if what == INFORMATION {
                words[0] = queues.all().count() as i32;
                words[1] = queues.all().map(|(_, queue)| queue.count as i32).sum();
                words[6] = queues.all().map(|(_, queue)| queue.bytes as i32).sum();
            }
            let bytes = words.map(i32::to_le_bytes);
            user_memory::write(state, caller, to, bytes.as_flattened())?;
            Ok(queues.highest())
        }
        STATUS_AT | STATUS_AT_ANY => {
            let (found, queue) = queues.at(identifier)?;
            if what == STATUS_AT {
                queue.permission.check(state, caller, READ)?;
            }
            user_memory::write(state, caller, to, &queue.status())?;
            Ok(found)
        }
        command::STATUS => {
            let queue = queues.get_mut(identifier)?;
            queue.permission.check(state, caller, READ)?;
            user_memory::write(state, caller, to, &queue.status())?;
            Ok(0)
        }
        command::SET => {
            /// Where `struct msqid64_ds` has the most bytes.
            const MOST: usize = 88;
            const SYS_RESOURCE: u32 = 24;
            let queue = queues.get_mut(identifier)?;
            let (mut head, mut most) = ([0; HEAD], [0; 8]);
            user_memory::read(state, caller, to, &mut head)?;
            user_memory::read(state, caller, to.wrapping_add(MOST), &mut most)?;
            queue.permission.check_owner(state, caller)?;
            let most = u64::from_le_bytes(most);
            let (process, ..) = caller.parts(state)?;
            if most > BYTES && !process.credentials.has(SYS_RESOURCE) {
                return Err(Errno::EPERM);
            }
            queue.permission.set(&head);
            queue.most = most.min(u32::MAX.into());
            queue.times[2] = now();
            queues.changed(state);
            Ok(0)
        }
        command::REMOVE => {
            let queue = queues.get_mut(identifier)?;
            queue.permission.check_owner(state, caller)?;
            let queue = queues.remove(identifier, &mut state.frames)?;
            let files = &mut state.files.tree.files;
            files.let_go(queue.file, &mut state.frames);
            queues.changed(state);
            Ok(0)
        }
        _ => Err(Errno::EINVAL),
    });
    if what == command::REMOVE {
        while with_state(|state| state.frames.reclaim()) {}
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_has_room_up_to_its_limits() {
        let mut queue = Queue {
            permission: Permission::default(),
            file: 0,
            end: 0,
            count: 0,
            bytes: 0,
            most: 10,
            times: [1, 2, 3],
            processes: [4, 5],
        };
        assert!(queue.has_room(10));
        assert!(!queue.has_room(11));
        queue.count = 10;
        assert!(!queue.has_room(0));
        let bytes = queue.status();
        assert_eq!((bytes[48], bytes[56], bytes[64]), (1, 2, 3));
        assert_eq!(
            (bytes[80], bytes[88], bytes[96], bytes[100]),
            (10, 10, 4, 5)
        );
    }
}
