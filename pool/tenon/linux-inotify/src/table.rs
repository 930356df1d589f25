//! [`Table`]: all instances and watches.

use crate::queue::{Event, IGNORED, Queue};
use tenon_files::event::DELETE_SELF;
use tenon_process::{Errno, Files, Frames, Objects, has_share, ready};
use tenon_sync::Mutex;

/// Instances at a time, and of one user.
const INSTANCES: u32 = 1024;
const OF_USER: u32 = 128;
/// Watches at a time.
const WATCHES: u32 = 8192;

/// An instance of `inotify`.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) queue: Queue,
    pub(crate) source: u32,
    user: u32,
    watches: u32,
    /// Threads are to be woken, and the next such instance: its number plus one.
    pending: bool,
    next_pending: u32,
}

/// A watch of an inode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    pub(crate) instance: u32,
    pub(crate) inode: u32,
    pub(crate) mask: u32,
    /// The next watch of the inode: its number plus one.
    pub(crate) next: u32,
}

/// All instances and watches.
#[derive(Debug)]
pub(crate) struct Table {
    instances: Objects<Instance>,
    watches: Objects<Watch>,
    count: u32,
    /// From where on the next watch gets a number: one that has ended is not used again at once.
    next: u32,
    /// The first instance of which threads are to be woken: its number plus one.
    pending: u32,
}

static TABLE: Mutex<Table> = Mutex::new(Table {
    instances: Objects::new(INSTANCES),
    watches: Objects::new(WATCHES),
    count: 0,
    next: 0,
    pending: 0,
});

/// Calls `action` with all instances. It locks nothing of others.
pub(crate) fn with<R>(action: impl FnOnce(&mut Table) -> Result<R, Errno>) -> Result<R, Errno> {
    action(&mut *TABLE.lock().map_err(|_| Errno::EBADF)?)
}

impl Table {
    /// A new instance of a user.
    pub(crate) fn create(&mut self, user: u32, frames: &mut Frames) -> Result<u32, Errno> {
        let own = self.instances_of(user).count();
        if own >= OF_USER as usize {
            return Err(Errno::EMFILE);
        }
        let instance = Instance {
            queue: Queue::new(),
            source: u32::MAX,
            user,
            watches: 0,
            pending: false,
            next_pending: 0,
        };
        let inserted = self.instances.insert(instance, 0, frames);
        inserted.map_err(|_| Errno::ENFILE)
    }

    fn instances_of(&self, user: u32) -> impl Iterator<Item = &Instance> {
        let all = self.instances.numbers(0);
        all.filter_map(|number| self.instances.get(number))
            .filter(move |instance| instance.user == user)
    }

    pub(crate) fn instance(&mut self, number: u32) -> Result<&mut Instance, Errno> {
        self.instances.get_mut(number).ok_or(Errno::EBADF)
    }

    pub(crate) fn watch(&mut self, number: u32) -> Option<&mut Watch> {
        self.watches.get_mut(number)
    }

    /// The watch of an instance among those of an inode, which begin with one.
    pub(crate) fn find(&self, mut first: u32, instance: u32) -> Option<u32> {
        while let Some(number) = first.checked_sub(1) {
            let watch = self.watches.get(number)?;
            if watch.instance == instance {
                return Some(number);
            }
            first = watch.next;
        }
        None
    }

    /// Adds a watch in front of those of its inode.
    pub(crate) fn add(&mut self, watch: Watch, frames: &mut Frames) -> Result<u32, Errno> {
        let user = self.instance(watch.instance)?.user;
        let watches = |instance: &Instance| instance.watches;
        let own = || self.instances_of(user).map(watches).sum();
        if !has_share(self.count, WATCHES, own) {
            return Err(Errno::ENOSPC);
        }
        let instance = watch.instance;
        let inserted = self.watches.insert(watch, self.next, frames);
        let inserted = inserted.or_else(|watch| self.watches.insert(watch, 0, frames));
        let number = inserted.map_err(|_| Errno::ENOSPC)?;
        self.count += 1;
        self.next = (number + 1) % WATCHES;
        self.instance(instance)?.watches += 1;
        Ok(number)
    }

    /// Queues an event of a watch, and has threads woken by [`settle`].
    pub(crate) fn push(
        &mut self,
        (number, instance): (u32, u32),
        events: u32,
        (name, cookie): (&[u8], u32),
        frames: &mut Frames,
    ) {
        let first = self.pending;
        let Ok(found) = self.instance(instance) else {
            return;
        };
        let event = Event {
            watch: (number + 1).cast_signed(),
            events,
            cookie,
            name,
        };
        found.queue.push(&event, frames);
        if !found.pending {
            (found.pending, found.next_pending) = (true, first);
            self.pending = instance + 1;
        }
    }

    /// Ends a watch, which its inode has no longer; its instance is told.
    pub(crate) fn end(&mut self, number: u32, frames: &mut Frames) -> Option<Watch> {
        let ended = self.watches.remove(number, frames)?;
        self.count -= 1;
        if let Ok(instance) = self.instance(ended.instance) {
            instance.watches = instance.watches.saturating_sub(1);
        }
        self.push((number, ended.instance), IGNORED, (&[], 0), frames);
        Some(ended)
    }

    /// Takes the source of an instance of which threads are to be woken.
    fn next_pending(&mut self) -> Option<u32> {
        let number = self.pending.checked_sub(1)?;
        let instance = self.instances.get_mut(number)?;
        self.pending = core::mem::take(&mut instance.next_pending);
        instance.pending = false;
        Some(instance.source)
    }

    /// The first watch of an instance from a number on.
    pub(crate) fn watch_of(&self, instance: u32, from: u32) -> Option<u32> {
        self.watches.numbers(from).find(|number| {
            let watch = self.watches.get(*number);
            watch.is_some_and(|watch| watch.instance == instance)
        })
    }

    fn remove(&mut self, number: u32, frames: &mut Frames) {
        let Some(mut removed) = self.instances.remove(number, frames) else {
            return;
        };
        removed.queue.release(frames);
        if !removed.pending {
            return;
        }
        let next = removed.next_pending;
        if self.pending == number + 1 {
            self.pending = next;
            return;
        }
        let mut at = self.pending;
        while let Some(instance) = at.checked_sub(1).and_then(|at| self.instances.get_mut(at)) {
            if instance.next_pending == number + 1 {
                instance.next_pending = next;
                return;
            }
            at = instance.next_pending;
        }
    }
}

/// Wakes the threads that wait for events which were queued.
pub(crate) fn settle(files: &mut Files) {
    while let Ok(Some(source)) = with(|table| Ok(table.next_pending())) {
        files.notify(source, ready::READABLE);
    }
}

/// Takes a watch from its inode, and ends it.
pub(crate) fn end(files: &mut Files, frames: &mut Frames, number: u32) {
    let ended = with(|table| {
        let Some(watch) = table.watch(number).copied() else {
            return Ok(());
        };
        if let Ok(inode) = files.tree.files.inode_mut(watch.inode) {
            if inode.watches == number + 1 {
                inode.watches = watch.next;
            } else {
                let mut at = inode.watches;
                while let Some(before) = at.checked_sub(1).and_then(|at| table.watch(at)) {
                    if before.next == number + 1 {
                        before.next = watch.next;
                        break;
                    }
                    at = before.next;
                }
            }
        }
        table.end(number, frames);
        Ok(())
    });
    debug_assert!(ended.is_ok());
}

/// Ends an instance with all its watches.
pub(crate) fn close(files: &mut Files, instance: u32, frames: &mut Frames) {
    let mut from = 0;
    while let Ok(Some(number)) = with(|table| Ok(table.watch_of(instance, from))) {
        end(files, frames, number);
        from = number + 1;
    }
    let removed = with(|table| {
        table.remove(instance, frames);
        Ok(())
    });
    debug_assert!(removed.is_ok());
}

/// Ends the watches of an inode that has ended; they begin with one.
pub(crate) fn ended(frames: &mut Frames, mut first: u32) {
    let ended = with(|table| {
        while let Some(number) = first.checked_sub(1) {
            let Some(watch) = table.watch(number).copied() else {
                break;
            };
            if watch.mask & DELETE_SELF != 0 {
                table.push((number, watch.instance), DELETE_SELF, (&[], 0), frames);
            }
            table.end(number, frames);
            first = watch.next;
        }
        Ok(())
    });
    debug_assert!(ended.is_ok());
}
