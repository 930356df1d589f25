//! [`Segment`]: shared memory of System V.

use core::fmt::Write as _;
use core_log::Line;
use tenon_frames::{Frames, Object, PAGE};
use tenon_fs_proc::LINE;
use tenon_linux_ipc::object::{self, HEAD, Objects, Permission};
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
    /// Its key, users and permissions.
    pub permission: Permission,
    /// The process that created it, and the last one that attached or detached it.
    pub processes: (u32, u32),
    /// Seconds of the last attachment, the last detachment and the last change.
    pub times: [u64; 3],
    /// What `SHM_LOCK` has set.
    pub locked: bool,
}

impl object::Object for Segment {
    fn permission(&mut self) -> &mut Permission {
        &mut self.permission
    }

    fn permission_of(&self) -> &Permission {
        &self.permission
    }
}

impl Segment {
    /// A segment of a size.
    pub fn of(frames: &mut Frames, size: u64, permission: Permission) -> Result<Self, Errno> {
        let object = frames.create_object(&[]).ok_or(Errno::ENOMEM)?;
        frames.resize_object(&object, size);
        Ok(Self {
            object,
            permission,
            processes: (0, 0),
            times: [0; 3],
            locked: false,
        })
    }

    /// Its key, users and permissions, as they are shown.
    fn shown(&self) -> Permission {
        let locked = if self.locked { LOCKED } else { 0 };
        Permission {
            mode: self.permission.mode | locked,
            ..self.permission
        }
    }

    /// The line of `/proc/sysvipc/shm` for a segment at a place, which so many areas have.
    pub fn write_line(&self, (place, areas): (u32, u32), line: &mut Line<LINE>) {
        let (size, (first, last)) = (self.object.size(), self.processes);
        let owners = self.permission.owners();
        let [attached, detached, changed] = self.times;
        let resident = size.next_multiple_of(PAGE as u64);
        self.shown().begin_line(place, line);
        // There is room for it.
        let _ = write!(
            line,
            " {size:>21} {first:>5} {last:>5}  {areas:>5} {owners} {attached:>10} {detached:>10} "
        );
        let _ = writeln!(line, "{changed:>10} {resident:>21} {:>21}", 0);
    }

    /// `struct shmid64_ds`, with a number of areas that have it.
    #[must_use]
    pub fn status(&self, areas: u32) -> [u8; 112] {
        let mut bytes = [0; 112];
        self.shown().put(&mut bytes);
        let (first, last) = self.processes;
        let processes = u64::from(first) | u64::from(last) << 32;
        let [attached, detached, changed] = self.times;
        let words = [
            self.object.size(),
            attached,
            detached,
            changed,
            processes,
            areas.into(),
        ];
        for (place, word) in bytes[HEAD..].chunks_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

/// The number of segments, and that of their pages.
pub fn total(segments: &Objects<Segment>) -> (u64, u64) {
    segments.all().fold((0, 0), |(count, pages), (_, segment)| {
        let own = segment.object.size().div_ceil(PAGE as u64);
        (count + 1, pages + own)
    })
}

/// The segment with an object.
pub fn of_object(segments: &mut Objects<Segment>, key: usize) -> Option<&mut Segment> {
    let mut all = segments.all();
    let (place, _) = all.find(|(_, segment)| segment.object.key() == key)?;
    drop(all);
    let (_, segment) = segments.at(place.cast_signed()).ok()?;
    Some(segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_found_by_their_objects() {
        let mut frames = Frames::of_host(64);
        let total_frames = frames.available();
        let mut segments = Objects::new(SEGMENTS);
        let mut identifiers = [0; 2];
        for (identifier, size) in identifiers.iter_mut().zip([5000, 1]) {
            let segment = Segment::of(&mut frames, size, Permission::default()).unwrap();
            *identifier = segments.insert(segment, None, &mut frames).unwrap() as i32;
        }
        assert_eq!(total(&segments), (2, 3));
        let key = segments.get_mut(identifiers[1]).unwrap().object.key();
        assert_eq!(of_object(&mut segments, key).unwrap().object.size(), 1);
        for identifier in identifiers {
            let segment = segments.remove(identifier, &mut frames).unwrap();
            frames.release_object(segment.object);
        }
        assert!(of_object(&mut segments, key).is_none());
        assert_eq!(frames.available(), total_frames);
    }

    #[test]
    fn a_status_has_the_fields_of_linux() {
        let mut frames = Frames::of_host(16);
        let permission = Permission {
            owner: (3, 4),
            mode: 0o640,
            ..Permission::default()
        };
        let mut segment = Segment::of(&mut frames, 5000, permission).unwrap();
        (segment.times[2], segment.processes) = (9, (5, 6));
        let bytes = segment.status(2);
        assert_eq!((bytes[4], bytes[8], bytes[72], bytes[88]), (3, 4, 9, 2));
        assert_eq!((bytes[80], bytes[84]), (5, 6));
        assert_eq!(bytes[20..22], 0o640u16.to_le_bytes());
        assert_eq!(bytes[48..50], 5000u16.to_le_bytes());
        segment.locked = true;
        assert_eq!(segment.status(2)[20..22], 0o2640u16.to_le_bytes());
        frames.release_object(segment.object);
    }
}
