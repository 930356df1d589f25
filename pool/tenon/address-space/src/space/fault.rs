//! Page faults of an [`AddressSpace`]: initial content of a page, copies on write.

use super::AddressSpace;
use crate::{Access, Area, PAGE, Permissions};
use core::fmt;
use hw_arch::{cache, mmu};
use tenon_frames::{Frame, Frames, Object};

/// Cause of an access that cannot be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// No area has the address.
    NoArea,
    /// Its area does not permit the access.
    Permission,
    /// No frame is free.
    NoMemory,
    /// The object of the area ends before it.
    BeyondEnd,
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoArea => "nothing is mapped there",
            Self::Permission => "the mapping does not permit it",
            Self::NoMemory => "no memory is left",
            Self::BeyondEnd => "what is mapped there has ended",
        })
    }
}

impl core::error::Error for Denied {}

impl<const N: usize> AddressSpace<N> {
    /// Serves an access that has no translation: the page gets a frame, or one of its own. An access
    /// that has one by now is served as well.
    pub fn fault(
        &mut self,
        address: usize,
        access: Access,
        frames: &mut Frames,
    ) -> Result<(), Denied> {
        match self.try_fault(address, access, frames) {
            Err(Denied::NoMemory) if frames.relieve() => self.try_fault(address, access, frames),
            result => result,
        }
    }

    fn try_fault(
        &mut self,
        address: usize,
        access: Access,
        frames: &mut Frames,
    ) -> Result<(), Denied> {
        let page = address & !(PAGE - 1);
        let area = *self.areas.find(address).ok_or(Denied::NoArea)?;
        if !area.permissions.allow(access) {
            return Err(Denied::Permission);
        }
        if access == Access::Write && area.is_of_object() && !area.is_shared() {
            self.areas.set_own_pages(address);
        }
        match self.tables.page(page) {
            None => self.fill(page, &area, access, frames),
            Some(present) if access == Access::Write && !present.writable => {
                self.make_own(page, area.permissions, frames)
            }
            Some(_) => Ok(()),
        }
    }

    /// Gives a page its initial content.
    fn fill(
        &mut self,
        page: usize,
        area: &Area,
        access: Access,
        frames: &mut Frames,
    ) -> Result<(), Denied> {
        if !self.tables.prepare(page, frames) {
            return Err(Denied::NoMemory);
        }
        let (frame, copies) = match area.object(page) {
            None => (frames.allocate(), false),
            Some((_, index)) => {
                let filled = area.with_object(|object| {
                    if index * PAGE as u64 >= object.size() {
                        return Err(Denied::BeyondEnd);
                    }
                    Ok(match access {
                        _ if area.is_shared() => (frames.object_page(object, index), false),
                        Access::Write => (object_copy(object, index, frames), false),
                        Access::Read | Access::Execute => (frames.object_view(object, index), true),
                    })
                });
                filled.ok_or(Denied::NoArea)??
            }
        };
        let frame = frame.ok_or(Denied::NoMemory)?;
        self.put_page(page, frame, (area, copies), frames);
        if copies {
            self.fill_around(page, area, frames);
        }
        Ok(())
    }

    /// Enters a frame for a page without one. `copies` states that a store needs another frame.
    fn put_page(
        &mut self,
        page: usize,
        frame: Frame,
        (area, copies): (&Area, bool),
        frames: &mut Frames,
    ) {
        if area.permissions.execute {
            let index = area.object(page).map(|(_, index)| index);
            let begins = area.with_object(|object| {
                index.is_none_or(|index| !copies || frames.begin_fetches(object, index))
            });
            if begins.unwrap_or(true) {
                synchronise(&frame);
            }
        }
        self.tables.put(page, frame, area.permissions, copies);
    }

    /// Enters the frames that the object of an area has for the pages around one: what is used next
    /// is near, and each fault takes more time than an entry.
    fn fill_around(&mut self, page: usize, area: &Area, frames: &mut Frames) {
        /// Bytes around a page, within the table of its block.
        const AROUND: usize = 8 * PAGE;
        let first = page & !(AROUND - 1);
        let range = first.max(area.start)..(first + AROUND).min(area.end);
        let page_at_start = area.object(range.start).map_or(0, |(_, page)| page);
        area.with_object(|object| {
            self.tables.fill(&range, area.permissions, |place| {
                let index = page_at_start + place as u64;
                let frame = frames.present_view(object, index)?;
                if area.permissions.execute && frames.begin_fetches(object, index) {
                    synchronise(&frame);
                }
                Some(frame)
            });
        });
    }

    /// Makes the frame of a page exclusive, by a copy if others have it, and writable.
    fn make_own(
        &mut self,
        page: usize,
        permissions: Permissions,
        frames: &mut Frames,
    ) -> Result<(), Denied> {
        if self.is_exclusive(page, frames) {
            self.tables.set_permissions(page, permissions, false);
            mmu::invalidate_asid_page(self.asid, page);
            return Ok(());
        }
        let shared = self.tables.share(page, frames).ok_or(Denied::NoArea)?;
        let copy = frames.allocate_copy(&shared);
        frames.release(shared);
        let copy = copy.ok_or(Denied::NoMemory)?;
        // The entry is invalid between its two frames (Arm ARM, D8.17.1).
        if let Some(before) = self.tables.take(page) {
            mmu::invalidate_asid_page(self.asid, page);
            frames.release(before);
        }
        self.tables.put(page, copy, permissions, false);
        Ok(())
    }

    /// The physical address of a page for an access by the kernel, with a frame as for an access by
    /// the process.
    #[inline(always)]
    pub(super) fn resolve(
        &mut self,
        page: usize,
        access: Access,
        frames: &mut Frames,
    ) -> Result<usize, Denied> {
        match self.tables.accessible(page, access) {
            Some(frame) => Ok(frame.get()),
            None => self.resolve_absent(page, access, frames),
        }
    }

    #[cold]
    fn resolve_absent(
        &mut self,
        page: usize,
        access: Access,
        frames: &mut Frames,
    ) -> Result<usize, Denied> {
        self.fault(page, access, frames)?;
        let page = self.tables.page(page).ok_or(Denied::NoArea)?;
        Ok(page.frame)
    }
}

/// Has instruction fetches see the content of a frame.
fn synchronise(frame: &Frame) {
    // SAFETY: the frame is mapped, as it is allocated or of the image.
    unsafe { cache::synchronise_code(frame.address(), PAGE) };
}

/// A copy of a page of an object.
fn object_copy(object: &Object, index: u64, frames: &mut Frames) -> Option<Frame> {
    let frame = frames.allocate()?;
    object.read_to(index * PAGE as u64, (&frame, 0), PAGE, frames.copier());
    Some(frame)
}
