//! [`Segments`]: shared memory of System V by identifiers and keys.

use core::fmt::Write as _;
use core_log::Line;
use tenon_frames::{Frames, Object, PAGE, Table};
use tenon_fs_proc::LINE;
use tenon_process::Errno;

/// Segments at most, as in Linux.
pub const SEGMENTS: u32 = 4096;

/// `SHM_LOCKED` of a mode.
const LOCKED: u32 = 0o2000;

/// A segment.
#[derive(Debug)]
pub struct Segment {
    /// Its pages.
    pub object: Object,
    /// Its key, or zero.
    pub key: i32,
    /// Its permissions.
    pub mode: u32,
    /// Its user and group.
    pub owner: (u32, u32),
    /// The user and group that created it.
    pub creator: (u32, u32),
    /// The process that created it, and the last one that attached or detached it.
    pub processes: (u32, u32),
    /// Seconds of the last attachment, the last detachment and the last change.
    pub times: [u64; 3],
    /// What `SHM_LOCK` has set.
    pub locked: bool,
    /// What its identifier has beyond its place.
    sequence: u16,
}

impl Segment {
    /// A segment of a size.
    pub fn of(frames: &mut Frames, size: u64) -> Result<Self, Errno> {
        let object = frames.create_object(&[]).ok_or(Errno::ENOMEM)?;
        frames.resize_object(&object, size);
        Ok(Self {
            object,
            key: 0,
            mode: 0,
            owner: (0, 0),
            creator: (0, 0),
            processes: (0, 0),
            times: [0; 3],
            locked: false,
            sequence: 0,
        })
    }

    /// Sets user, group and permissions of the first words of a `struct shmid64_ds`.
    pub fn set(&mut self, bytes: &[u8; 24], now: u64) {
        let word = |at: usize| {
            let bytes = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
            u32::from_le_bytes(bytes.copied().unwrap_or_default())
        };
        self.owner = (word(4), word(8));
        self.mode = word(20) & 0o777;
        self.times[2] = now;
    }

    /// The line of `/proc/sysvipc/shm` for a segment at a place, which so many areas have.
    pub fn write_line(&self, (place, areas): (u32, u32), line: &mut Line<LINE>) {
        let identifier = place | u32::from(self.sequence) << 16;
        let mode = self.mode | if self.locked { LOCKED } else { 0 };
        let (key, size, (first, last)) = (self.key, self.object.size(), self.processes);
        let ((user, group), (creator, creator_group)) = (self.owner, self.creator);
        let [attached, detached, changed] = self.times;
        let resident = size.next_multiple_of(PAGE as u64);
        // There is room for it.
        let _ = write!(
            line,
            "{key:>10} {identifier:>10}  {mode:>4o} {size:>21} {first:>5} {last:>5}  {areas:>5} "
        );
        let _ = write!(
            line,
            "{user:>5} {group:>5} {creator:>5} {creator_group:>5} {attached:>10} {detached:>10} "
        );
        let _ = writeln!(line, "{changed:>10} {resident:>21} {:>21}", 0);
    }

    /// `struct shmid64_ds`, with a number of areas that have it.
    #[must_use]
    pub fn status(&self, areas: u32) -> [u8; 112] {
        let mut bytes = [0; 112];
        let mut put = |at: usize, size: usize, word: u64| {
            if let Some(place) = bytes.get_mut(at..at + size) {
                place.copy_from_slice(&word.to_le_bytes()[..size]);
            }
        };
        let halves = [
            self.key.cast_unsigned(),
            self.owner.0,
            self.owner.1,
            self.creator.0,
            self.creator.1,
            self.mode | if self.locked { LOCKED } else { 0 },
        ];
        for (index, half) in halves.into_iter().enumerate() {
            put(4 * index, 4, half.into());
        }
        put(24, 2, self.sequence.into());
        put(48, 8, self.object.size());
        for (at, time) in [(56, 0), (64, 1), (72, 2)] {
            put(at, 8, self.times[time]);
        }
        put(80, 4, self.processes.0.into());
        put(84, 4, self.processes.1.into());
        put(88, 8, areas.into());
        bytes
    }
}

/// All segments.
#[derive(Debug)]
pub struct Segments {
    table: Table<Segment>,
    /// Segments that were created, modulo a power of two.
    sequence: u16,
}

impl Segments {
    /// No segment.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            table: Table::new(SEGMENTS),
            sequence: 0,
        }
    }

    /// Adds a segment; returns its identifier. Without room, the segment is released.
    pub fn insert(&mut self, mut segment: Segment, frames: &mut Frames) -> Result<u32, Errno> {
        // Identifiers are positive.
        self.sequence = (self.sequence + 1) & 0x7fff;
        segment.sequence = self.sequence;
        match self.table.insert(segment, 0, frames) {
            Ok(number) => Ok(number | u32::from(self.sequence) << 16),
            Err(segment) => {
                frames.release_object(segment.object);
                Err(Errno::ENOSPC)
            }
        }
    }

    /// The segment of an identifier.
    pub fn get_mut(&mut self, identifier: i32) -> Result<&mut Segment, Errno> {
        let identifier = u32::try_from(identifier).map_err(|_| Errno::EINVAL)?;
        let segment = self.table.get_mut(identifier & 0xffff);
        segment
            .filter(|segment| u32::from(segment.sequence) == identifier >> 16)
            .ok_or(Errno::EINVAL)
    }

    /// Removes a segment. Its pages stay while areas have them.
    pub fn remove(&mut self, identifier: i32, frames: &mut Frames) -> Result<(), Errno> {
        self.get_mut(identifier)?;
        let number = identifier.cast_unsigned() & 0xffff;
        if let Some(segment) = self.table.remove(number, frames) {
            frames.release_object(segment.object);
        }
        Ok(())
    }

    /// The segment of a key with its identifier.
    #[must_use]
    pub fn of_key(&self, key: i32) -> Option<(u32, &Segment)> {
        let mut all = self.all();
        all.find(|(_, segment)| segment.key == key)
            .map(|(number, segment)| (number | u32::from(segment.sequence) << 16, segment))
    }

    /// The segment with an object.
    pub fn of_object(&mut self, key: usize) -> Option<&mut Segment> {
        let found = self
            .all()
            .find(|(_, segment)| segment.object.key() == key)
            .map(|(number, _)| number);
        self.table.get_mut(found?)
    }

    fn all(&self) -> impl Iterator<Item = (u32, &Segment)> {
        self.all_from(0)
    }

    /// The segments from a place on.
    pub fn all_from(&self, place: u32) -> impl Iterator<Item = (u32, &Segment)> {
        let numbers = self.table.numbers(place);
        numbers.filter_map(|number| Some((number, self.table.get(number)?)))
    }

    /// The identifier of the segment at a place.
    pub fn identifier(&self, place: i32) -> Result<i32, Errno> {
        // As in Linux, an identifier has its place in it.
        let place = u32::try_from(place).map_err(|_| Errno::EINVAL)? & 0xffff;
        let segment = self.table.get(place).ok_or(Errno::EINVAL)?;
        Ok((place | u32::from(segment.sequence) << 16).cast_signed())
    }

    /// The number of segments, and that of their pages.
    #[must_use]
    pub fn total(&self) -> (u64, u64) {
        self.all().fold((0, 0), |(count, pages), (_, segment)| {
            let own = segment.object.size().div_ceil(PAGE as u64);
            (count + 1, pages + own)
        })
    }

    /// The highest place of a segment.
    #[must_use]
    pub fn highest(&self) -> u64 {
        self.all().last().map_or(0, |(number, _)| number.into())
    }
}

impl Default for Segments {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_and_keys_are_those_of_a_segment() {
        let mut frames = Frames::of_host(64);
        let total = frames.available();
        let mut segments = Segments::new();
        let mut first = Segment::of(&mut frames, 5000).unwrap();
        first.key = 7;
        let first = segments.insert(first, &mut frames).unwrap();
        let second = Segment::of(&mut frames, 1).unwrap();
        let second = segments.insert(second, &mut frames).unwrap();
        assert_eq!(segments.of_key(7).unwrap().0, first);
        assert_eq!(segments.of_key(8).map(|(number, _)| number), None);
        assert_eq!(segments.highest(), 1);
        assert_eq!(segments.identifier(1), Ok(second as i32));
        assert_eq!(segments.identifier(2), Err(Errno::EINVAL));
        assert_eq!(segments.identifier(-1), Err(Errno::EINVAL));
        assert_eq!(segments.total(), (2, 3));
        let key = segments.get_mut(second as i32).unwrap().object.key();
        assert_eq!(segments.of_object(key).unwrap().object.size(), 1);
        segments.remove(first as i32, &mut frames).unwrap();
        assert_eq!(
            segments.remove(first as i32, &mut frames),
            Err(Errno::EINVAL)
        );
        // The place has another identifier now.
        let third = Segment::of(&mut frames, 1).unwrap();
        let third = segments.insert(third, &mut frames).unwrap();
        assert_eq!(third & 0xffff, first & 0xffff);
        assert!(segments.get_mut(first as i32).is_err());
        assert!(segments.get_mut(-1).is_err());
        for identifier in [second, third] {
            segments.remove(identifier as i32, &mut frames).unwrap();
        }
        assert_eq!(frames.available(), total);
    }

    #[test]
    fn a_status_has_the_fields_of_linux() {
        let mut frames = Frames::of_host(16);
        let mut segment = Segment::of(&mut frames, 5000).unwrap();
        let mut words = [0; 24];
        words[4] = 3;
        words[8] = 4;
        words[20..22].copy_from_slice(&0o7640u16.to_le_bytes());
        segment.set(&words, 9);
        let bytes = segment.status(2);
        assert_eq!((bytes[4], bytes[8], bytes[72], bytes[88]), (3, 4, 9, 2));
        assert_eq!(bytes[20..22], 0o640u16.to_le_bytes());
        assert_eq!(bytes[48..50], 5000u16.to_le_bytes());
        frames.release_object(segment.object);
    }
}
