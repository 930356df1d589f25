//! [`Change`]: what a library that watches inodes is told of.

use super::{Description, Files, Object};
use tenon_frames::Frames;

/// Events of inodes, with the numbers of `inotify`.
pub mod event {
    /// The content was read.
    pub const ACCESS: u32 = 0x1;
    /// The content has changed.
    pub const MODIFY: u32 = 0x2;
    /// Attributes have changed.
    pub const ATTRIBUTES: u32 = 0x4;
    /// A description that was open for writing is closed.
    pub const CLOSE_WRITE: u32 = 0x8;
    /// Another description is closed.
    pub const CLOSE_OTHER: u32 = 0x10;
    /// It was opened.
    pub const OPEN: u32 = 0x20;
    /// An entry has gone to another name.
    pub const MOVED_FROM: u32 = 0x40;
    /// An entry has come from another name.
    pub const MOVED_TO: u32 = 0x80;
    /// An entry was created.
    pub const CREATE: u32 = 0x100;
    /// An entry was removed.
    pub const DELETE: u32 = 0x200;
    /// The inode itself has ended.
    pub const DELETE_SELF: u32 = 0x400;
    /// The inode itself has another name.
    pub const MOVE_SELF: u32 = 0x800;
}

/// A change of an inode.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The inode; the directory, if an entry of it has changed.
    pub inode: u32,
    /// The [events](event).
    pub events: u32,
    /// The directory above is told of it as well.
    pub above: bool,
    /// The name of the entry, and whether that is a directory.
    pub entry: Option<(&'a [u8], bool)>,
    /// What the two events of a moved entry have in common.
    pub cookie: u32,
}

/// Functions of a library that watches inodes.
#[derive(Debug)]
pub struct Watcher {
    /// An inode has changed.
    pub changed: fn(&mut Files, &mut Frames, &Change<'_>),
    /// Watched inodes have ended.
    pub ended: fn(&mut Files),
}

impl Files {
    fn tell(&mut self, change: &Change<'_>, frames: &mut Frames) {
        for watcher in self.watchers.into_iter().flatten() {
            (watcher.changed)(self, frames, change);
        }
    }

    /// Has a library that watches inodes told of changes.
    pub fn add_watcher(&mut self, watcher: &'static Watcher) {
        let place = self.watchers.iter_mut().find(|place| match place {
            Some(other) => core::ptr::eq(*other, watcher),
            None => true,
        });
        debug_assert!(place.is_some(), "there is a place for each library");
        if let Some(place) = place {
            *place = Some(watcher);
        }
    }

    /// States events of an inode, of which the directory above is told too.
    #[inline]
    pub fn changed(&mut self, inode: u32, events: u32, frames: &mut Frames) {
        if self.watchers[0].is_some() {
            let change = Change {
                inode,
                events,
                above: true,
                entry: None,
                cookie: 0,
            };
            self.tell(&change, frames);
        }
    }

    /// States events that concern an inode alone.
    pub fn changed_itself(&mut self, inode: u32, events: u32, frames: &mut Frames) {
        let change = Change {
            inode,
            events,
            above: false,
            entry: None,
            cookie: 0,
        };
        self.tell(&change, frames);
    }

    /// States events of an entry of a directory, which is a directory itself or not.
    pub fn changed_entry(
        &mut self,
        inode: u32,
        entry: (&[u8], bool),
        (events, cookie): (u32, u32),
        frames: &mut Frames,
    ) {
        let change = Change {
            inode,
            events,
            above: false,
            entry: Some(entry),
            cookie,
        };
        self.tell(&change, frames);
    }

    /// A number that the two events of a moved entry have in common.
    pub fn next_cookie(&mut self) -> u32 {
        self.cookie = self.cookie.wrapping_add(1).max(1);
        self.cookie
    }

    /// States that a description is closed.
    pub(super) fn changed_by_close(&mut self, description: &Description, frames: &mut Frames) {
        const ACCESS_MODE: u32 = 0b11;
        if description.flags & super::PATH != 0 {
            return;
        }
        if let Object::File(inode) | Object::Directory(inode) = description.object {
            let events = if description.flags & ACCESS_MODE == 0 {
                event::CLOSE_OTHER
            } else {
                event::CLOSE_WRITE
            };
            self.changed(inode, events, frames);
        }
    }
}
