//! An address space: areas and tables together.

mod copy;
mod fault;

pub use fault::Denied;

use crate::tables::{END, GIB, KERNEL_GIBS, Page, Tables, low_end};
use crate::{Area, Areas, Backing, Error, PAGE, Permissions};
use core::ops::Range;
use hw_arch::{cache, mmu};
use tenon_frames::{Frame, Frames};

/// The lowest address of a process: use of a null pointer with an offset below it faults.
const LOWEST: usize = 0x1_0000;

/// The kernel's entries of level 1, which each address space has as well, and the lowest address of
/// them.
#[derive(Clone, Copy, Debug)]
pub struct KernelPart([u64; KERNEL_GIBS], usize);

impl KernelPart {
    /// The part without entries.
    pub const EMPTY: Self = Self([0; KERNEL_GIBS], GIB);

    /// The part with these entries.
    ///
    /// # Safety
    ///
    /// They are valid descriptors of level 1 for the lowest 4 GiB, without access from EL0, or zero.
    /// Tables that they point to stay, and get no further entry in the lowest GiB.
    #[must_use]
    pub unsafe fn new(entries: [u64; KERNEL_GIBS]) -> Self {
        // SAFETY: as the caller promises.
        Self(entries, unsafe { low_end(entries[0]) })
    }
}

/// The address space of a process, with at most `N` areas.
#[derive(Debug)]
pub struct AddressSpace<const N: usize> {
    areas: Areas<N>,
    tables: Tables,
    asid: u8,
    /// An area has been shared.
    shares: bool,
    /// New areas are locked (`MCL_FUTURE`).
    pub locks: bool,
}

impl<const N: usize> AddressSpace<N> {
    /// An empty address space for translations of this ASID.
    pub fn new(kernel: KernelPart, asid: u8, frames: &mut Frames) -> Result<Self, Error> {
        // SAFETY: `KernelPart::new` had that promised.
        let tables =
            unsafe { Tables::new((&kernel.0, kernel.1), frames) }.ok_or(Error::NoMemory)?;
        // Translations of an earlier process with this ASID.
        mmu::invalidate_asid(asid);
        Ok(Self {
            areas: Areas::new(),
            tables,
            asid,
            shares: false,
            locks: false,
        })
    }

    /// The value of `TTBR0_EL1` for it.
    #[must_use]
    pub fn translation_base(&self) -> u64 {
        self.tables.root() as u64 | u64::from(self.asid) << 48
    }

    /// Has its translations with another ASID from now on.
    pub fn set_asid(&mut self, asid: u8) {
        self.asid = asid;
        mmu::invalidate_asid(asid);
    }

    /// The areas.
    #[must_use]
    pub fn areas(&self) -> &Areas<N> {
        &self.areas
    }

    /// Addresses of programs that are linked at a fixed address.
    #[must_use]
    pub fn fixed_part(&self) -> Range<usize> {
        LOWEST..self.tables.low_end
    }

    /// Addresses of all else.
    #[must_use]
    pub fn main_part(&self) -> Range<usize> {
        KERNEL_GIBS * GIB..END
    }

    /// Checks that a range consists of pages of the process.
    pub fn check(&self, range: &Range<usize>) -> Result<(), Error> {
        let within = |part: Range<usize>| part.start <= range.start && range.end <= part.end;
        let pages = (range.start | range.end).is_multiple_of(PAGE) && range.start < range.end;
        let own = within(self.fixed_part()) || within(self.main_part());
        (pages && own).then_some(()).ok_or(Error::Range)
    }

    /// Maps an area where none is.
    pub fn map(
        &mut self,
        range: &Range<usize>,
        permissions: Permissions,
        backing: &Backing<'_>,
        frames: &mut Frames,
    ) -> Result<(), Error> {
        self.check(range)?;
        let area = Area::new(range, permissions, backing).with_lock(self.locks);
        self.insert(area, frames)
    }

    /// Maps an area instead of what is there. A failure changes nothing.
    pub fn map_over(
        &mut self,
        range: &Range<usize>,
        permissions: Permissions,
        backing: &Backing<'_>,
        frames: &mut Frames,
    ) -> Result<(), Error> {
        self.check(range)?;
        let area = Area::new(range, permissions, backing).with_lock(self.locks);
        if area.is_writable_code(permissions, frames) {
            return Err(Error::WritableCode);
        }
        self.areas.reserve(3, frames)?;
        self.areas.remove(range, frames)?;
        self.release_pages(range, frames);
        self.insert(area, frames)
    }

    /// Whether a page of a range has a frame.
    #[must_use]
    pub fn has_pages(&self, range: &Range<usize>) -> bool {
        self.tables.next(range.start, range.end).is_some()
    }

    fn insert(&mut self, area: Area, frames: &mut Frames) -> Result<(), Error> {
        if area.is_writable_code(area.permissions, frames) {
            return Err(Error::WritableCode);
        }
        self.areas.insert(area, frames)?;
        self.shares |= area.is_shared();
        Ok(())
    }

    /// Whether an area has ever been shared with other processes.
    #[must_use]
    pub fn shares(&self) -> bool {
        self.shares
    }

    /// The highest free range of `size` bytes below an address.
    pub fn find_free(&self, size: usize, below: usize) -> Result<usize, Error> {
        let part = self.main_part();
        let bounds = part.start..part.end.min(below);
        self.areas.find_free(size, &bounds).ok_or(Error::NoMemory)
    }

    /// Unmaps a range, and releases its frames.
    pub fn unmap(&mut self, range: &Range<usize>, frames: &mut Frames) -> Result<(), Error> {
        self.check(range)?;
        self.areas.remove(range, frames)?;
        self.release_pages(range, frames);
        Ok(())
    }

    /// Releases the frames of a range: its pages have their content of the beginning then, or that of
    /// their object.
    pub fn discard(&mut self, range: &Range<usize>, frames: &mut Frames) {
        /// At most as many invalidations by page are cheaper than a refill of the TLB.
        const SINGLE: usize = 8;
        // A frame is not allocated anew before the TLB is invalidated: the caller has them all.
        self.tables.release_range(range, frames);
        if range.len() > SINGLE * PAGE {
            return mmu::invalidate_asid(self.asid);
        }
        for page in range.clone().step_by(PAGE) {
            mmu::invalidate_asid_page(self.asid, page);
        }
    }

    /// Releases the pages of an object from one on, which the object has no longer.
    pub fn discard_object(&mut self, key: usize, first: u64, frames: &mut Frames) {
        for index in 0..self.areas.count() {
            let area = self.areas.get(index).copied();
            if let Some(area) = area
                && let Some((own, page)) = area.object(area.start)
                && own == key
            {
                let skipped = first.saturating_sub(page);
                let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
                let start = area.start.saturating_add(skipped.saturating_mul(PAGE));
                self.discard(&(start.min(area.end)..area.end), frames);
            }
        }
    }

    /// Releases the frames of a range without areas, and tables that nothing needs any more.
    fn release_pages(&mut self, range: &Range<usize>, frames: &mut Frames) {
        self.tables.release_range(range, frames);
        self.tables.release_empty(range, frames);
        // Also for what the TLB has of the tables themselves.
        mmu::invalidate_asid(self.asid);
    }

    /// Changes the permissions of a range, all of which is mapped.
    pub fn protect(
        &mut self,
        range: &Range<usize>,
        permissions: Permissions,
        frames: &mut Frames,
    ) -> Result<(), Error> {
        self.check(range)?;
        self.areas.protect(range, permissions, frames)?;
        let mut at = range.start;
        while let Some(page) = self.tables.next(at, range.end) {
            let is_shared = self.areas.find(page).is_some_and(Area::is_shared);
            let copies = !is_shared && !self.is_exclusive(page, frames);
            self.tables.set_permissions(page, permissions, copies);
            mmu::invalidate_asid_page(self.asid, page);
            if permissions.execute
                && let Some(Page { frame, .. }) = self.tables.page(page)
            {
                // SAFETY: the frame is mapped, as it is allocated or of the image.
                unsafe { cache::synchronise_code(frame, PAGE) };
            }
            at = page + PAGE;
        }
        Ok(())
    }

    /// Locks the areas of a range, or ends that; a failure changes nothing.
    pub fn lock(
        &mut self,
        range: &Range<usize>,
        locked: bool,
        frames: &mut Frames,
    ) -> Result<(), Error> {
        self.check(range)?;
        self.areas.lock(range, locked, frames)
    }

    /// The pages of a range that have frames, and those of them with frames that another process or an
    /// object has too.
    #[must_use]
    pub fn pages_of(&self, range: &Range<usize>, frames: &Frames) -> (usize, usize) {
        let (mut at, mut count, mut shared) = (range.start, 0, 0);
        while let Some(page) = self.tables.next(at, range.end) {
            (at, count) = (page + PAGE, count + 1);
            shared += usize::from(!self.is_exclusive(page, frames));
        }
        (count, shared)
    }

    /// Moves a range within one area to a free place of another size, or to `to` instead of what is
    /// there. A failure changes nothing.
    pub fn remap(
        &mut self,
        from: &Range<usize>,
        to: &Range<usize>,
        replaces: bool,
        frames: &mut Frames,
    ) -> Result<(), Error> {
        self.check(from)?;
        self.check(to)?;
        if from.start < to.end && to.start < from.end {
            return Err(Error::Range);
        }
        let area = self.areas.find(from.start).copied();
        let area = area.filter(|area| from.end <= area.end);
        let area = area.ok_or(Error::Occupied)?;
        if !replaces && !self.areas.is_free(to) {
            return Err(Error::Occupied);
        }
        // Whatever splits: the ends of both ranges, and the new area.
        self.areas.reserve(5, frames)?;
        let kept = (from.end - from.start).min(to.end - to.start);
        let mut at = from.start;
        while let Some(page) = self.tables.next(at, from.start + kept) {
            if !self.tables.prepare(page - from.start + to.start, frames) {
                self.tables.release_empty(to, frames);
                return Err(Error::NoMemory);
            }
            at = page + PAGE;
        }
        let start = area.object(from.start);
        // None of these fails: there is room, and the permissions are those of an area.
        self.areas.remove(to, frames)?;
        self.discard(to, frames);
        let mut moved = area.moved(to);
        if let Some((_, page)) = start {
            moved.set_page(page as u32);
        }
        self.areas.insert(moved, frames)?;
        let mut at = from.start;
        while let Some(page) = self.tables.next(at, from.start + kept) {
            if let Some(Page { writable, .. }) = self.tables.page(page)
                && let Some(frame) = self.tables.take(page)
            {
                mmu::invalidate_asid_page(self.asid, page);
                let to = page - from.start + to.start;
                self.tables.put(to, frame, area.permissions, !writable);
            }
            at = page + PAGE;
        }
        self.unmap(from, frames)
    }

    /// A further mapping of shared pages, at a free place or instead of what is at `to`.
    pub fn map_again(
        &mut self,
        from: usize,
        to: &Range<usize>,
        frames: &mut Frames,
    ) -> Result<(), Error> {
        self.check(to)?;
        let area = self.areas.find(from).copied().ok_or(Error::Occupied)?;
        let Some((_, page)) = area.object(from).filter(|_| area.is_shared()) else {
            return Err(Error::Range);
        };
        let mut again = area.moved(to);
        again.set_page(page as u32);
        self.areas.insert(again, frames)
    }

    /// Has a part of a shared area show its object from another page on. A failure changes nothing.
    pub fn show_pages(
        &mut self,
        range: &Range<usize>,
        page: u32,
        frames: &mut Frames,
    ) -> Result<(), Error> {
        self.check(range)?;
        let area = self.areas.find(range.start).copied();
        let area = area.filter(|area| area.is_shared() && area.end >= range.end);
        let mut shown = area.ok_or(Error::Range)?.moved(range);
        shown.set_page(page);
        // The area that ends can have the only reference.
        let kept = shown.with_object(|object| frames.share_object(object));
        let kept = kept.ok_or(Error::Range)?;
        let replaced = self.areas.reserve(3, frames).and_then(|()| {
            self.areas.remove(range, frames)?;
            self.release_pages(range, frames);
            self.insert(shown, frames)
        });
        frames.release_object(kept);
        replaced
    }

    /// Makes the area that ends a range longer, if nothing is behind it.
    pub fn extend(
        &mut self,
        range: &Range<usize>,
        end: usize,
        frames: &mut Frames,
    ) -> Result<(), Error> {
        self.check(&(range.start..end))?;
        let area = self.areas.find(range.start).copied();
        let area = area.filter(|area| area.end == range.end);
        let area = area.ok_or(Error::Occupied)?;
        let mut behind = area.moved(&(range.end..end));
        if let Some((_, page)) = area.object(range.end) {
            behind.set_page(page as u32);
        }
        self.areas.insert(behind, frames)
    }

    /// Whether no other address space has the frame of a page.
    fn is_exclusive(&self, page: usize, frames: &Frames) -> bool {
        self.tables.page(page).is_none_or(|page| {
            // SAFETY: the entry holds the frame; this `Frame` of it is not kept.
            let held = unsafe { Frame::from_address(page.frame) };
            let exclusive = frames.is_exclusive(&held);
            let _ = held.into_address();
            exclusive
        })
    }

    /// A copy of the address space for another ASID, which shares all frames until they are written.
    pub fn fork(
        &mut self,
        kernel: KernelPart,
        asid: u8,
        frames: &mut Frames,
    ) -> Result<Self, Error> {
        let mut child = Self::new(kernel, asid, frames)?;
        child.shares = self.shares;
        match self.areas.copy(frames) {
            Ok(areas) => child.areas = areas,
            Err(error) => {
                child.release(frames);
                return Err(error);
            }
        }
        let shared = self.share_pages(&mut child, frames);
        // Pages of this process became read-only.
        mmu::invalidate_asid(self.asid);
        match shared {
            Ok(()) => Ok(child),
            Err(error) => {
                child.release(frames);
                Err(error)
            }
        }
    }

    fn share_pages(&mut self, child: &mut Self, frames: &mut Frames) -> Result<(), Error> {
        for index in 0..self.areas.count() {
            let Some(area) = self.areas.get(index).copied() else {
                break;
            };
            // The object has these pages, which the child gets by its accesses as this process did.
            if area.is_shared() || area.is_of_object() {
                continue;
            }
            let range = area.start..area.end;
            if !self.tables.share_range(&range, &child.tables, frames) {
                return Err(Error::NoMemory);
            }
        }
        Ok(())
    }

    /// Releases all frames and tables. No core uses the tables any more.
    pub fn release(mut self, frames: &mut Frames) {
        for area in self.areas.iter() {
            self.tables.release_range(&(area.start..area.end), frames);
        }
        mmu::invalidate_asid(self.asid);
        self.tables.release(frames);
        self.areas.release(frames);
    }
}
