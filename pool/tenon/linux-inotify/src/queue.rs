//! [`Queue`]: events of an instance that are not read yet.

use tenon_process::{Frames, Ring};

/// Events of a queue at most, beside the one that states a loss.
const EVENTS: u32 = 4096;
/// Bytes of all events of a queue at most.
const BYTES: usize = 256 << 10;
/// Bytes of an event without a name.
pub(crate) const HEADER: usize = 16;
/// Bytes of an event at most.
pub(crate) const LONGEST: usize = HEADER + 256;
/// `IN_Q_OVERFLOW`: events are lost.
const LOST: u32 = 0x4000;
/// `IN_IGNORED`: a watch has ended.
pub(crate) const IGNORED: u32 = 0x8000;

/// An event, as a process reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event<'a> {
    pub(crate) watch: i32,
    pub(crate) events: u32,
    pub(crate) cookie: u32,
    pub(crate) name: &'a [u8],
}

impl Event<'_> {
    /// Its bytes: the name ends with a NUL and is as long as several headers.
    fn bytes(&self, to: &mut [u8; LONGEST]) -> usize {
        let length = match self.name.len() {
            0 => 0,
            length => (length + 1).next_multiple_of(HEADER),
        };
        let words = [
            self.watch.cast_unsigned(),
            self.events,
            self.cookie,
            length as u32,
        ];
        to.fill(0);
        to[..HEADER].copy_from_slice(words.map(u32::to_le_bytes).as_flattened());
        to[HEADER..HEADER + self.name.len()].copy_from_slice(self.name);
        HEADER + length
    }
}

/// Events that wait to be read.
#[derive(Debug)]
pub(crate) struct Queue {
    ring: Ring,
    count: u32,
    /// The bytes of the last event.
    last: [u8; LONGEST],
    last_length: usize,
    /// Events are lost, and there was no memory to state it.
    lost: bool,
}

impl Queue {
    pub(crate) const fn new() -> Self {
        Self {
            ring: Ring::new(BYTES),
            count: 0,
            last: [0; LONGEST],
            last_length: 0,
            lost: false,
        }
    }

    /// Whether there is an event.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0 && !self.lost
    }

    /// Bytes that can be read.
    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }

    /// Adds an event unless it is the same as the last one. One that there is no room for is lost.
    pub(crate) fn push(&mut self, event: &Event<'_>, frames: &mut Frames) {
        let mut bytes = [0; LONGEST];
        let length = event.bytes(&mut bytes);
        let same = |one: &[u8], other: &[u8]| one[..8] == other[..8] && one[12..] == other[12..];
        let repeats = self.count > 0
            && event.events & IGNORED == 0
            && same(&self.last[..self.last_length], &bytes[..length]);
        if repeats {
            return;
        }
        let room = self.ring.room() >= length + HEADER;
        if self.count < EVENTS && room && self.append(&bytes, length, frames) {
            return;
        }
        let lost = Event {
            watch: -1,
            events: LOST,
            cookie: 0,
            name: &[],
        };
        let length = lost.bytes(&mut bytes);
        let is_stated = self.count > 0 && self.last[..length] == bytes[..length];
        if !is_stated && !self.append(&bytes, length, frames) {
            self.lost = true;
        }
    }

    fn append(&mut self, bytes: &[u8; LONGEST], length: usize, frames: &mut Frames) -> bool {
        let before = self.ring.len();
        if self.ring.append(&bytes[..length], frames) < length {
            self.ring.truncate(before, frames);
            return false;
        }
        (self.last, self.last_length) = (*bytes, length);
        self.count += 1;
        true
    }

    /// The bytes of the first event.
    pub(crate) fn first(&self, to: &mut [u8; LONGEST]) -> Option<usize> {
        if self.count == 0 {
            let lost = Event {
                watch: -1,
                events: LOST,
                cookie: 0,
                name: &[],
            };
            return self.lost.then(|| lost.bytes(to));
        }
        self.ring.peek(0, &mut to[..HEADER]);
        let mut length = [0; 4];
        length.copy_from_slice(&to[12..HEADER]);
        let length = (HEADER + u32::from_le_bytes(length) as usize).min(LONGEST);
        self.ring.peek(0, &mut to[..length]);
        Some(length)
    }

    /// Removes the first event, which has a length.
    pub(crate) fn skip(&mut self, length: usize, frames: &mut Frames) {
        if self.count == 0 {
            self.lost = false;
            return;
        }
        self.count -= 1;
        self.ring.skip(length, frames);
    }

    /// Releases what it has.
    pub(crate) fn release(&mut self, frames: &mut Frames) {
        self.ring.release(frames);
        (self.count, self.lost) = (0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(watch: i32, events: u32, name: &[u8]) -> Event<'_> {
        Event {
            watch,
            events,
            cookie: 0,
            name,
        }
    }

    fn take(queue: &mut Queue, frames: &mut Frames) -> Option<(u32, Vec<u8>)> {
        let mut bytes = [0; LONGEST];
        let length = queue.first(&mut bytes)?;
        queue.skip(length, frames);
        let events = u32::from_le_bytes(bytes[4..8].try_into().unwrap());
        Some((events, bytes[HEADER..length].to_vec()))
    }

    #[test]
    fn events_are_read_in_their_order_and_once() {
        let mut frames = Frames::of_host(16);
        let total = frames.available();
        let mut queue = Queue::new();
        assert!(queue.is_empty());
        for events in [1, 1, 2] {
            queue.push(&event(1, events, b""), &mut frames);
        }
        queue.push(&event(1, 2, b"name"), &mut frames);
        queue.push(&event(1, 2, &[b'x'; 255]), &mut frames);
        for _ in 0..2 {
            queue.push(&event(1, IGNORED, b""), &mut frames);
        }
        assert_eq!(take(&mut queue, &mut frames), Some((1, vec![])));
        assert_eq!(take(&mut queue, &mut frames), Some((2, vec![])));
        let mut name = b"name".to_vec();
        name.resize(16, 0);
        assert_eq!(take(&mut queue, &mut frames), Some((2, name)));
        let mut name = vec![b'x'; 255];
        name.push(0);
        assert_eq!(take(&mut queue, &mut frames), Some((2, name)));
        for _ in 0..2 {
            assert_eq!(take(&mut queue, &mut frames), Some((IGNORED, vec![])));
        }
        assert_eq!(take(&mut queue, &mut frames), None);
        // What was read is none to be compared with.
        queue.push(&event(1, IGNORED, b""), &mut frames);
        queue.release(&mut frames);
        assert!(queue.is_empty());
        assert_eq!(frames.available(), total);
    }

    #[test]
    fn what_is_lost_is_stated_last() {
        for pages in [3, 400] {
            let mut frames = Frames::of_host(pages);
            let mut queue = Queue::new();
            for index in 0..3 * EVENTS {
                queue.push(&event(1, 1 + index % 2, b"a name"), &mut frames);
            }
            let mut all = Vec::new();
            while let Some((events, _)) = take(&mut queue, &mut frames) {
                all.push(events);
            }
            assert!(all.len() <= EVENTS as usize + 1);
            let stated = all.iter().filter(|events| **events == LOST).count();
            assert_eq!((stated, all.last()), (1, Some(&LOST)));
        }
    }
}
