//! [`Watches`]: event polls, and the descriptors that they watch.

mod nesting;

use tenon_process::{Errno, Files, Frames, Object, Objects, Observer, Side, ready};

/// Event polls at a time.
const POLLS: u32 = 1024;
/// Watches of all event polls.
const WATCHES: u32 = 16384;
/// Watches of the event polls of a process, once half of all are used.
const OF_PROCESS: u32 = 2048;
/// Sources that can be watched.
const SOURCES: u32 = 16384;
/// Numbers of descriptors.
const DESCRIPTORS: u32 = 4096;
/// Event polls that watch each other in a row at most, as in Linux.
const DEPTH: u32 = 5;
/// Watches that are looked at, or notified, for one event at most.
const VISITS: u32 = 4096;
/// No watch.
const NONE: u32 = u32::MAX;

/// What a watch asks for beside events.
pub(crate) mod mode {
    pub const EXCLUSIVE: u32 = 1 << 28;
    pub const WAKE_UP: u32 = 1 << 29;
    pub const ONCE: u32 = 1 << 30;
    pub const EDGE: u32 = 1 << 31;
    pub const ALL: u32 = EXCLUSIVE | WAKE_UP | ONCE | EDGE;
}

/// Events that are stated without being asked for.
const ALWAYS: u32 = (ready::ERROR | ready::HANGUP) as u32;

/// A place in a list of watches.
#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    next: u32,
}

const UNLINKED: Link = Link {
    before: NONE,
    next: NONE,
};

/// A descriptor that an event poll watches.
#[derive(Debug)]
struct Watch {
    poll: u32,
    /// The number of the descriptor, and its description.
    number: u32,
    description: u32,
    /// What that refers to, and its source of events.
    object: Object,
    source: u32,
    /// Events and modes; without an event it is disabled.
    events: u32,
    data: u64,
    /// It is in the list of those that may be ready.
    pending: bool,
    /// The next watch of the same number.
    same: u32,
    /// The list of its source, and that of its poll's pending ones.
    links: [Link; 2],
}

const BY_SOURCE: usize = 0;
const PENDING: usize = 1;

/// An event poll.
#[derive(Debug)]
struct Poll {
    /// The first watch of each number of a descriptor.
    by_number: Objects<u32>,
    count: u32,
    /// The process that has created it.
    owner: u32,
    source: u32,
    first: u32,
    last: u32,
}

/// All event polls.
#[derive(Debug)]
pub(crate) struct Watches {
    polls: Objects<Poll>,
    watches: Objects<Watch>,
    /// The first watch of each source.
    by_source: Objects<u32>,
    count: u32,
}

/// How an event poll's own object is known among others.
pub(crate) type PollOf = fn(&Object) -> Option<u32>;

/// A watch as `epoll_ctl` names it: the event poll, the number of the descriptor, the description.
pub(crate) type Name = (u32, u32, u32);

/// A watched object, and its source of events.
pub(crate) type Target = (Object, u32);

impl Watches {
    pub(crate) const fn new() -> Self {
        Self {
            polls: Objects::new(POLLS),
            watches: Objects::new(WATCHES),
            by_source: Objects::new(SOURCES),
            count: 0,
        }
    }

    /// Creates an event poll.
    pub(crate) fn create(&mut self, owner: u32, frames: &mut Frames) -> Result<u32, Errno> {
        let poll = Poll {
            by_number: Objects::new(DESCRIPTORS),
            count: 0,
            owner,
            source: NONE,
            first: NONE,
            last: NONE,
        };
        let inserted = self.polls.insert(poll, 0, frames);
        inserted.map_err(|_| Errno::ENFILE)
    }

    /// Sets the source of an event poll.
    pub(crate) fn set_source(&mut self, poll: u32, source: u32) {
        if let Some(poll) = self.polls.get_mut(poll) {
            poll.source = source;
        }
    }

    /// The source of an event poll.
    pub(crate) fn source(&self, poll: u32) -> Option<u32> {
        Some(self.polls.get(poll)?.source)
    }

    fn link(&mut self, watch: u32, list: usize) -> Option<&mut Link> {
        Some(&mut self.watches.get_mut(watch)?.links[list])
    }

    /// Has a watch follow another one; returns the one before in its place.
    fn unlink(&mut self, watch: u32, list: usize) -> Link {
        let Some(link) = self.link(watch, list) else {
            return UNLINKED;
        };
        let link = core::mem::replace(link, UNLINKED);
        if let Some(before) = self.link(link.before, list) {
            before.next = link.next;
        }
        if let Some(next) = self.link(link.next, list) {
            next.before = link.before;
        }
        link
    }

    /// Appends a watch to the pending ones of its poll.
    fn append_pending(&mut self, number: u32) {
        let Some(watch) = self.watches.get_mut(number) else {
            return;
        };
        let Some(poll) = self.polls.get_mut(watch.poll) else {
            return;
        };
        if core::mem::replace(&mut watch.pending, true) {
            return;
        }
        let before = core::mem::replace(&mut poll.last, number);
        watch.links[PENDING] = Link { before, next: NONE };
        if before == NONE {
            poll.first = number;
        } else if let Some(before) = self.link(before, PENDING) {
            before.next = number;
        }
    }

    /// Removes a watch from the pending ones of its poll.
    fn remove_pending(&mut self, number: u32) {
        let Some(watch) = self.watches.get_mut(number) else {
            return;
        };
        let poll = watch.poll;
        if !core::mem::take(&mut watch.pending) {
            return;
        }
        let link = self.unlink(number, PENDING);
        if let Some(poll) = self.polls.get_mut(poll) {
            if link.before == NONE {
                poll.first = link.next;
            }
            if link.next == NONE {
                poll.last = link.before;
            }
        }
    }

    /// The watch of a name.
    fn find(&self, (poll, number, description): Name) -> Option<u32> {
        let mut at = *self.polls.get(poll)?.by_number.get(number)?;
        while let Some(watch) = self.watches.get(at) {
            if watch.description == description {
                return Some(at);
            }
            at = watch.same;
        }
        None
    }

    /// Whether as many watches as its process can have are used.
    fn is_full(&self, poll: u32) -> bool {
        let Some(owner) = self.polls.get(poll).map(|poll| poll.owner) else {
            return true;
        };
        if self.count < WATCHES / 2 {
            return false;
        }
        let polls = self.polls.numbers(0).filter_map(|n| self.polls.get(n));
        let own = polls.filter(|poll| poll.owner == owner);
        self.count >= WATCHES || own.map(|poll| poll.count).sum::<u32>() >= OF_PROCESS
    }

    /// Adds a watch for the events of a source.
    pub(crate) fn add(
        &mut self,
        name: Name,
        (events, data): (u32, u64),
        (object, source): Target,
        (files, frames): (&mut Files, &mut Frames),
        (poll_of, observer): (PollOf, &'static Observer),
    ) -> Result<(), Errno> {
        let (poll, number, description) = name;
        if self.find(name).is_some() {
            return Err(Errno::EEXIST);
        }
        if let Some(target) = poll_of(&object) {
            self.check_nesting(poll, target, poll_of)?;
        }
        if self.is_full(poll) {
            return Err(Errno::ENOSPC);
        }
        let of_poll = self.polls.get(poll).ok_or(Errno::EBADF)?;
        let same = of_poll.by_number.get(number).copied().unwrap_or(NONE);
        let next = self.by_source.get(source).copied().unwrap_or(NONE);
        let watch = Watch {
            poll,
            number,
            description,
            object,
            source,
            events,
            data,
            pending: false,
            same,
            links: [Link { before: NONE, next }, UNLINKED],
        };
        let inserted = self.watches.insert(watch, 0, frames);
        let watch = inserted.map_err(|_| Errno::ENOMEM)?;
        let noted = self.note(watch, (poll, number), source, frames);
        if noted.is_none() {
            self.watches.remove(watch, frames);
            return Err(Errno::ENOMEM);
        }
        if let Some(next) = self.link(next, BY_SOURCE) {
            next.before = watch;
        }
        if let Some(poll) = self.polls.get_mut(poll) {
            poll.count += 1;
        }
        self.count += 1;
        files.watch(source, observer, true);
        Ok(())
    }

    /// Notes a watch by its number and source; `None` without memory.
    fn note(
        &mut self,
        watch: u32,
        (poll, number): (u32, u32),
        source: u32,
        frames: &mut Frames,
    ) -> Option<()> {
        let of_poll = self.polls.get_mut(poll)?;
        let fresh = of_poll.by_number.get(number).is_none();
        set(&mut of_poll.by_number, number, watch, frames)?;
        if set(&mut self.by_source, source, watch, frames).is_none() {
            if fresh {
                of_poll.by_number.remove(number, frames);
            } else if let (Some(first), Some(own)) =
                (of_poll.by_number.get_mut(number), self.watches.get(watch))
            {
                *first = own.same;
            }
            return None;
        }
        Some(())
    }

    /// Changes what a watch asks for.
    pub(crate) fn modify(&mut self, name: Name, events: u32, data: u64) -> Result<(), Errno> {
        let watch = self.find(name).ok_or(Errno::ENOENT)?;
        let watch = self.watches.get_mut(watch).ok_or(Errno::ENOENT)?;
        if watch.events & mode::EXCLUSIVE != 0 {
            return Err(Errno::EINVAL);
        }
        (watch.events, watch.data) = (events, data);
        Ok(())
    }

    /// Removes a watch.
    pub(crate) fn delete(
        &mut self,
        name: Name,
        (files, frames): (&mut Files, &mut Frames),
        observer: &'static Observer,
    ) -> Result<(), Errno> {
        let watch = self.find(name).ok_or(Errno::ENOENT)?;
        self.remove(watch, (files, frames), observer);
        Ok(())
    }

    fn remove(
        &mut self,
        number: u32,
        (files, frames): (&mut Files, &mut Frames),
        observer: &'static Observer,
    ) {
        self.remove_pending(number);
        let link = self.unlink(number, BY_SOURCE);
        let Some(watch) = self.watches.remove(number, frames) else {
            return;
        };
        self.count -= 1;
        if link.before == NONE {
            if link.next == NONE {
                self.by_source.remove(watch.source, frames);
                files.watch(watch.source, observer, false);
            } else if let Some(first) = self.by_source.get_mut(watch.source) {
                *first = link.next;
            }
        }
        let Some(poll) = self.polls.get_mut(watch.poll) else {
            return;
        };
        poll.count -= 1;
        let Some(first) = poll.by_number.get_mut(watch.number) else {
            return;
        };
        if *first == number {
            if watch.same == NONE {
                poll.by_number.remove(watch.number, frames);
            } else {
                *first = watch.same;
            }
            return;
        }
        let mut at = *first;
        while let Some(before) = self.watches.get_mut(at) {
            if before.same == number {
                before.same = watch.same;
                return;
            }
            at = before.same;
        }
    }

    /// Removes the watches of a description that is closed.
    pub(crate) fn forget(
        &mut self,
        description: u32,
        source: u32,
        (files, frames): (&mut Files, &mut Frames),
        observer: &'static Observer,
    ) {
        let mut at = self.by_source.get(source).copied().unwrap_or(NONE);
        while let Some(watch) = self.watches.get(at) {
            let next = watch.links[BY_SOURCE].next;
            if watch.description == description {
                self.remove(at, (files, frames), observer);
            }
            at = next;
        }
    }

    /// Ends an event poll with its watches.
    pub(crate) fn close(
        &mut self,
        poll: u32,
        (files, frames): (&mut Files, &mut Frames),
        observer: &'static Observer,
    ) {
        let mut from = 0;
        while let Some(number) = self.polls.get(poll).and_then(|poll| {
            let first = poll.by_number.numbers(from);
            { first }.next().filter(|_| poll.count > 0)
        }) {
            from = number;
            let first = self.polls.get(poll).and_then(|p| p.by_number.get(number));
            if let Some(first) = first.copied() {
                self.remove(first, (files, frames), observer);
            }
        }
        self.polls.remove(poll, frames);
    }

    /// Notes that a source has events: the watches of it that ask for one are pending, and so are those
    /// of their event polls.
    pub(crate) fn notify(&mut self, source: u32, events: u16, files: &mut Files) {
        let mut events = events;
        for (event, normal) in [
            (ready::READABLE, ready::READABLE_NORMAL),
            (ready::WRITABLE, ready::WRITABLE_NORMAL),
        ] {
            events |= if events & event != 0 { normal } else { 0 };
        }
        self.spread(source, events, files, DEPTH + 1, &mut { VISITS });
    }

    fn spread(
        &mut self,
        source: u32,
        events: u16,
        files: &mut Files,
        depth: u32,
        visits: &mut u32,
    ) {
        let mut at = self.by_source.get(source).copied().unwrap_or(NONE);
        let mut exclusive_woken = false;
        while let Some(watch) = self.watches.get(at) {
            let (number, next) = (at, watch.links[BY_SOURCE].next);
            at = next;
            if *visits == 0 || depth == 0 {
                return;
            }
            *visits -= 1;
            let exclusive = watch.events & mode::EXCLUSIVE != 0;
            let asked = watch.events & !mode::ALL;
            if asked == 0
                || u32::from(events) & (asked | ALWAYS) == 0
                || exclusive && exclusive_woken
            {
                continue;
            }
            let Some(own) = self.polls.get(watch.poll).map(|poll| poll.source) else {
                continue;
            };
            self.append_pending(number);
            exclusive_woken |= exclusive && files.has_readers(own);
            files.signal(own, ready::READABLE);
            self.spread(own, ready::READABLE, files, depth - 1, visits);
        }
    }

    /// Notes that a watch may be ready, and wakes what waits for its event poll.
    pub(crate) fn look_again(&mut self, name: Name, files: &mut Files, poll_of: PollOf) {
        let Some(watch) = self.find(name) else {
            return;
        };
        let present = self.watches.get(watch);
        if present.is_none_or(|watch| self.events_of(watch, files, poll_of, 1) == 0) {
            return;
        }
        self.append_pending(watch);
        if let Some(source) = self.source(name.0) {
            files.signal(source, ready::READABLE);
            self.notify(source, ready::READABLE, files);
        }
    }

    /// The events that a watch asks for and its object has.
    #[inline(always)]
    fn events_of(&self, watch: &Watch, files: &mut Files, poll_of: PollOf, depth: u32) -> u32 {
        let asked = watch.events & !mode::ALL;
        if asked == 0 {
            return 0;
        }
        let events = match poll_of(&watch.object) {
            Some(poll) if self.is_ready(poll, files, poll_of, depth) => ready::READABLE,
            Some(_) => 0,
            None => files.ready(&watch.object),
        };
        u32::from(events) & (asked | ALWAYS)
    }

    /// Whether an event poll has a watch that is ready.
    pub(crate) fn is_ready(
        &self,
        poll: u32,
        files: &mut Files,
        poll_of: PollOf,
        depth: u32,
    ) -> bool {
        let mut at = self.polls.get(poll).map_or(NONE, |poll| poll.first);
        while let Some(watch) = self.watches.get(at) {
            if depth <= DEPTH && self.events_of(watch, files, poll_of, depth + 1) != 0 {
                return true;
            }
            at = watch.links[PENDING].next;
        }
        false
    }

    /// Calls `put` with the events and data of watches that are ready, at most `most`; returns how many
    /// there were, and the source of the event poll. One that `put` refuses stays as it is.
    pub(crate) fn collect(
        &mut self,
        poll: u32,
        most: usize,
        (files, poll_of): (&mut Files, PollOf),
        mut put: impl FnMut(usize, u32, u64) -> Result<(), Errno>,
    ) -> Result<(usize, u32), Errno> {
        let mut done = 0;
        let of_poll = self.polls.get(poll).ok_or(Errno::EBADF)?;
        let (source, first, last) = (of_poll.source, of_poll.first, of_poll.last);
        let mut at = first;
        while done < most && at != NONE {
            let number = at;
            let Some(watch) = self.watches.get(number) else {
                break;
            };
            let events = self.events_of(watch, files, poll_of, 1);
            let (asked, data) = (watch.events, watch.data);
            at = if number == last {
                NONE
            } else {
                watch.links[PENDING].next
            };
            if events != 0 {
                match put(done, events, data) {
                    Ok(()) => done += 1,
                    Err(_) if done > 0 => break,
                    Err(error) => return Err(error),
                }
            }
            let stays = events != 0 && asked & (mode::ONCE | mode::EDGE) == 0;
            if stays && first == last {
                // The only one is looked at again by the next call.
                files.wake_next(source, Side::Read);
                return Ok((done, source));
            }
            self.remove_pending(number);
            if asked & mode::ONCE != 0
                && events != 0
                && let Some(watch) = self.watches.get_mut(number)
            {
                watch.events &= mode::ALL;
            } else if stays {
                // Looked at again by the next call.
                self.append_pending(number);
            }
        }
        let rest = self.polls.get(poll).is_some_and(|poll| poll.first != NONE);
        if done > 0 && rest {
            files.wake_next(source, Side::Read);
        }
        Ok((done, source))
    }
}

/// Sets the object of a number; `None` without memory.
fn set(table: &mut Objects<u32>, number: u32, value: u32, frames: &mut Frames) -> Option<()> {
    if let Some(place) = table.get_mut(number) {
        *place = value;
        return Some(());
    }
    table.insert(value, number, frames).ok().map(drop)
}
