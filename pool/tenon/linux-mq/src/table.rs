//! Tables of queues and of their open descriptions.

use crate::order::Order;
use tenon_process::has_share;
use tenon_process::{Caller, Errno, Files, Frames, Object, Objects, Operations, Special, ready};
use tenon_sync::Mutex;

/// Queues at most; a setting is for users without a capability for more.
const QUEUES: u32 = 320;
/// Open descriptions of queues at most, and those of one queue.
const OPENED: u32 = 2048;
const OF_QUEUE: u32 = 512;
/// Bytes of a name at most.
pub(crate) const NAME: usize = 255;

/// A notice of the next message in the empty queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice {
    /// The process that has asked for it, and the owner as which its descriptors are known.
    pub process: u32,
    pub owner: u32,
    /// The signal, unless it is none, and its value.
    pub signal: u8,
    pub value: u64,
}

/// A queue.
#[derive(Debug)]
pub(crate) struct Queue {
    name: [u8; NAME],
    /// Bytes of the name; none once it is removed.
    length: u8,
    /// User and group, permissions.
    pub owner: (u32, u32),
    pub mode: u32,
    /// The most messages, and their most bytes.
    pub most: u32,
    pub size: u32,
    /// The file that has the bytes of messages.
    pub file: u32,
    pub order: Order,
    pub notice: Option<Notice>,
    /// How many open descriptions it has, and the last of them.
    references: u32,
    last: Option<u32>,
}

impl Queue {
    pub const fn new(owner: (u32, u32), mode: u32, (most, size): (u32, u32), file: u32) -> Self {
        Self {
            name: [0; NAME],
            length: 0,
            owner,
            mode,
            most,
            size,
            file,
            order: Order::new(),
            notice: None,
            references: 0,
            last: None,
        }
    }

    /// Bytes that count for `RLIMIT_MSGQUEUE`: those of messages, and what Linux has for each.
    pub fn bytes(most: u32, size: u32) -> u64 {
        u64::from(most) * (u64::from(size) + 96)
    }

    /// Gives it a name.
    pub fn set_name(&mut self, name: &[u8]) {
        if let Some(place) = self.name.get_mut(..name.len()) {
            place.copy_from_slice(name);
            self.length = name.len() as u8;
        }
    }

    fn has_name(&self, name: &[u8]) -> bool {
        self.length != 0 && self.name.get(..self.length.into()) == Some(name)
    }
}

/// An open description of a queue.
#[derive(Debug)]
struct Opened {
    queue: u32,
    user: u32,
    source: u32,
    /// The one that was opened before.
    before: Option<u32>,
}

/// All queues.
#[derive(Debug)]
pub(crate) struct Table {
    queues: Objects<Queue>,
    opened: Objects<Opened>,
    /// How many open descriptions there are.
    count: u32,
}

static TABLE: Mutex<Table> = Mutex::new(Table::new());

/// Calls `action` with all queues.
pub(crate) fn with<R>(action: impl FnOnce(&mut Table) -> Result<R, Errno>) -> Result<R, Errno> {
    let mut table = TABLE.lock().map_err(|_| Errno::EBADF)?;
    action(&mut table)
}

static OPERATIONS: Operations = Operations {
    mode: 0o10_0600,
    events: |_, number| {
        let events = with(|table| {
            let queue = table.of(number)?;
            let count = queue.order.len();
            let readable = if count > 0 { READABLE } else { 0 };
            let full = count >= queue.most as usize;
            Ok(readable | if full { 0 } else { WRITABLE })
        });
        events.unwrap_or_default()
    },
    flush: |_, number, owner| {
        let _ = with(|table| {
            let notice = &mut table.of(number)?.notice;
            Ok(notice.take_if(|notice| notice.owner == owner))
        });
    },
    close: |files, number, frames| {
        let _ = with(|table| {
            table.close(number, files, frames);
            Ok(())
        });
    },
    ..Operations::NONE
};

/// Events of a queue with a message, and of one with room.
pub(crate) const READABLE: u16 = ready::READABLE | ready::READABLE_NORMAL;
pub(crate) const WRITABLE: u16 = ready::WRITABLE | ready::WRITABLE_NORMAL;

/// The queue's object of a descriptor of the caller, and its status flags. `EBADF` if it is none.
pub(crate) fn description(
    state: &mut tenon_process::State,
    caller: &Caller,
) -> Result<(Special, u32), Errno> {
    let (process, _, files) = caller.parts(state)?;
    let description = files.get(&process.descriptor(caller.int(0))?.file)?;
    match description.object {
        Object::Special(special) if core::ptr::eq(special.operations, &raw const OPERATIONS) => {
            Ok((special, description.flags))
        }
        _ => Err(Errno::EBADF),
    }
}

/// States events to all that wait for the queue of an open description.
pub(crate) fn notify(files: &mut Files, opened: u32, events: u16) {
    let mut at = with(|table| Ok(table.of(opened)?.last)).unwrap_or_default();
    while let Some(number) = at {
        let found = with(|table| {
            let opened = table.opened.get(number).ok_or(Errno::EBADF)?;
            Ok((opened.source, opened.before))
        });
        // Those that are notified ask for the events of the queue, and the table is free then.
        at = found.ok().and_then(|(source, before)| {
            files.notify(source, events);
            before
        });
    }
}

impl Table {
    const fn new() -> Self {
        Self {
            queues: Objects::new(QUEUES),
            opened: Objects::new(OPENED),
            count: 0,
        }
    }

    /// The queue of an open description.
    pub fn of(&mut self, opened: u32) -> Result<&mut Queue, Errno> {
        let queue = self.opened.get(opened).ok_or(Errno::EBADF)?.queue;
        self.queues.get_mut(queue).ok_or(Errno::EBADF)
    }

    /// The number of the queue with a name.
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        let mut numbers = self.queues.numbers(0);
        numbers.find(|number| {
            let queue = self.queues.get(*number);
            queue.is_some_and(|queue| queue.has_name(name))
        })
    }

    /// The queue of a number.
    pub fn get(&self, number: u32) -> Result<&Queue, Errno> {
        self.queues.get(number).ok_or(Errno::ENOENT)
    }

    /// How many queues there are, and the bytes of those that a user created.
    pub fn usage(&self, user: u32) -> (u32, u64) {
        let (mut count, mut bytes) = (0, 0);
        for queue in self
            .queues
            .numbers(0)
            .filter_map(|number| self.get(number).ok())
        {
            count += 1;
            if queue.owner.0 == user {
                bytes += Queue::bytes(queue.most, queue.size);
            }
        }
        (count, bytes)
    }

    /// Inserts a queue without descriptions.
    pub fn insert(&mut self, queue: Queue, frames: &mut Frames) -> Result<u32, Errno> {
        let inserted = self.queues.insert(queue, 0, frames);
        inserted.map_err(|_| Errno::ENOSPC)
    }

    /// How many open descriptions of a user fit.
    fn count_of(&self, user: u32, fits: impl Fn(&Opened) -> bool) -> u32 {
        let numbers = self.opened.numbers(0);
        let opened = numbers.filter_map(|number| self.opened.get(number));
        let own = opened.filter(|opened| opened.user == user && fits(opened));
        own.count() as u32
    }

    /// Opens a queue for a user; returns the object of a description. `ENFILE` if there are too many, or
    /// too many of the user.
    pub fn open(
        &mut self,
        number: u32,
        user: u32,
        frames: &mut Frames,
    ) -> Result<(&'static Operations, u32), Errno> {
        let references = self.get(number)?.references;
        let of_queue = || self.count_of(user, |opened| opened.queue == number);
        if references >= OF_QUEUE
            || !has_share(references, OF_QUEUE, of_queue)
            || !has_share(self.count, OPENED, || self.count_of(user, |_| true))
        {
            return Err(Errno::ENFILE);
        }
        let queue = self.queues.get_mut(number).ok_or(Errno::ENOENT)?;
        let opened = Opened {
            queue: number,
            user,
            source: u32::MAX,
            before: queue.last,
        };
        let opened = self.opened.insert(opened, 0, frames);
        let opened = opened.map_err(|_| Errno::ENFILE)?;
        queue.last = Some(opened);
        queue.references += 1;
        self.count += 1;
        Ok((&OPERATIONS, opened))
    }

    /// Notes the source of an open description.
    pub fn set_source(&mut self, opened: u32, source: u32) {
        if let Some(opened) = self.opened.get_mut(opened) {
            opened.source = source;
        }
    }

    /// Closes an open description, with the queue if it was the last one and there is no name.
    fn close(&mut self, number: u32, files: &mut Files, frames: &mut Frames) {
        let Some(ended) = self.opened.remove(number, frames) else {
            return;
        };
        self.count -= 1;
        let Some(queue) = self.queues.get_mut(ended.queue) else {
            return;
        };
        queue.references -= 1;
        if queue.last == Some(number) {
            queue.last = ended.before;
        } else {
            let mut at = queue.last;
            while let Some(other) = at.and_then(|at| self.opened.get_mut(at)) {
                if other.before == Some(number) {
                    other.before = ended.before;
                    break;
                }
                at = other.before;
            }
        }
        self.release(ended.queue, files, frames);
    }

    /// Removes the name of a queue, and the queue if no description is left.
    pub fn unlink(&mut self, number: u32, files: &mut Files, frames: &mut Frames) {
        if let Some(queue) = self.queues.get_mut(number) {
            queue.length = 0;
        }
        self.release(number, files, frames);
    }

    /// Removes a queue that has neither a name nor a description.
    fn release(&mut self, number: u32, files: &mut Files, frames: &mut Frames) {
        let queue = self.queues.get(number);
        if queue.is_some_and(|queue| queue.length == 0 && queue.references == 0)
            && let Some(queue) = self.queues.remove(number, frames)
        {
            files.tree.files.let_go(queue.file, frames);
        }
    }

    /// Whether a thread waits for a message of the queue of an open description.
    pub fn has_readers(&self, opened: u32, files: &Files) -> bool {
        let queue = self.opened.get(opened).map(|opened| opened.queue);
        let queue = queue.and_then(|queue| self.queues.get(queue));
        let mut at = queue.and_then(|queue| queue.last);
        while let Some(opened) = at.and_then(|at| self.opened.get(at)) {
            if files.has_readers(opened.source) {
                return true;
            }
            at = opened.before;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_fits_into_a_frame_and_is_found_by_its_name() {
        assert!(size_of::<Queue>() < 4000);
        let mut frames = Frames::of_host(64);
        let total = frames.available();
        let mut table = Table::new();
        let mut queue = Queue::new((5, 6), 0o600, (10, 100), 0);
        queue.set_name(b"one");
        let number = table.insert(queue, &mut frames).unwrap();
        assert_eq!(table.find(b"one"), Some(number));
        assert_eq!(table.find(b"on"), None);
        assert_eq!(table.usage(5), (1, 1960));
        assert_eq!(table.usage(6), (1, 0));
        let opened: Vec<u32> = (0..3)
            .map(|_| table.open(number, 1000, &mut frames).unwrap().1)
            .collect();
        assert_eq!(table.of(opened[1]).unwrap().references, 3);
        // A user has half of a queue's descriptions at most, and another one an eighth then.
        let mut more = |user| table.open(number, user, &mut frames).map(|one| one.1);
        assert_eq!((0..).map_while(|_| more(1000).ok()).count(), 253);
        assert_eq!((0..).map_while(|_| more(1001).ok()).count(), 64);
        assert_eq!(more(1001), Err(Errno::ENFILE));
        table.queues.remove(number, &mut frames);
        for one in 0..OPENED {
            table.opened.remove(one, &mut frames);
        }
        assert_eq!(frames.available(), total);
    }
}
