//! An address space: areas and tables together.

use crate::tables::{BLOCK, END, GIB, KERNEL_GIBS, Page, Tables};
use crate::{Access, Area, Areas, Backing, Error, PAGE, Permissions};
use core::fmt;
use core::ops::Range;
use core::sync::atomic::AtomicU32;
use hw_arch::{cache, mmu};
use tenon_frames::{Frame, Frames};

/// The lowest address of a process: use of a null pointer with an offset below it faults.
const LOWEST: usize = 0x1_0000;

/// The kernel's entries of level 1, which each address space has as well.
#[derive(Clone, Copy, Debug)]
pub struct KernelPart([u64; KERNEL_GIBS]);

impl KernelPart {
    /// The part without entries.
    pub const EMPTY: Self = Self([0; KERNEL_GIBS]);

    /// The part with these entries.
    ///
    /// # Safety
    ///
    /// They are valid descriptors of level 1 for the lowest 4 GiB, without access from EL0, or zero.
    /// Tables that they point to stay, and get no further entry in the lowest GiB.
    #[must_use]
    pub const unsafe fn new(entries: [u64; KERNEL_GIBS]) -> Self {
        Self(entries)
    }
}

/// Cause of an access that cannot be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// No area has the address.
    NoArea,
    /// Its area does not permit the access.
    Permission,
    /// No frame is free.
    NoMemory,
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoArea => "nothing is mapped there",
            Self::Permission => "the mapping does not permit it",
            Self::NoMemory => "no memory is left",
        })
    }
}

impl core::error::Error for Denied {}

/// The address space of a process, with at most `N` areas.
#[derive(Debug)]
pub struct AddressSpace<const N: usize> {
    /// A frame with the areas.
    list: Frame,
    tables: Tables,
    asid: u8,
}

impl<const N: usize> AddressSpace<N> {
    /// An empty address space for translations of this ASID.
    pub fn new(kernel: KernelPart, asid: u8, frames: &mut Frames) -> Result<Self, Error> {
        let list = frames.allocate().ok_or(Error::NoMemory)?;
        Self::with_list(list, kernel, asid, frames)
    }

    /// An address space with a frame that has areas, none if it is zeroed.
    fn with_list(
        list: Frame,
        kernel: KernelPart,
        asid: u8,
        frames: &mut Frames,
    ) -> Result<Self, Error> {
        const { assert!(size_of::<Areas<N>>() <= PAGE && align_of::<Areas<N>>() <= PAGE) };
        // SAFETY: `KernelPart::new` had that promised.
        let Some(tables) = (unsafe { Tables::new(&kernel.0, frames) }) else {
            frames.release(list);
            return Err(Error::NoMemory);
        };
        // Translations of an earlier process with this ASID.
        mmu::invalidate_asid(asid);
        Ok(Self { list, tables, asid })
    }

    fn areas_mut(&mut self) -> &mut Areas<N> {
        // SAFETY: the frame holds areas, of which zeros are none, and this address space alone
        // accesses it.
        unsafe { &mut *(self.list.address() as *mut Areas<N>) }
    }

    /// The value of `TTBR0_EL1` for it.
    #[must_use]
    pub fn translation_base(&self) -> u64 {
        self.tables.root() as u64 | u64::from(self.asid) << 48
    }

    /// The areas.
    #[must_use]
    pub fn areas(&self) -> &Areas<N> {
        // SAFETY: as for `areas_mut`.
        unsafe { &*(self.list.address() as *const Areas<N>) }
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

    /// Whether a range consists of pages of the process.
    fn check(&self, range: &Range<usize>) -> Result<(), Error> {
        let within = |part: Range<usize>| part.start <= range.start && range.end <= part.end;
        let pages = (range.start | range.end).is_multiple_of(PAGE) && range.start < range.end;
        let own = within(self.fixed_part()) || within(self.main_part());
        (pages && own).then_some(()).ok_or(Error::Range)
    }

    /// Maps an area where none is.
    pub fn map(&mut self, area: Area) -> Result<(), Error> {
        self.check(&(area.start..area.end))?;
        if area.permissions.write && area.permissions.execute {
            return Err(Error::WritableCode);
        }
        self.areas_mut().insert(area)
    }

    /// The highest free range of `size` bytes below an address.
    pub fn find_free(&self, size: usize, below: usize) -> Result<usize, Error> {
        let part = self.main_part();
        let bounds = part.start..part.end.min(below);
        self.areas().find_free(size, &bounds).ok_or(Error::NoMemory)
    }

    /// Unmaps a range, and releases its frames.
    pub fn unmap(&mut self, range: &Range<usize>, frames: &mut Frames) -> Result<(), Error> {
        self.check(range)?;
        self.areas_mut().remove(range)?;
        self.release_pages(range, frames);
        Ok(())
    }

    /// Releases the frames of a range without areas, and tables that nothing needs any more.
    fn release_pages(&mut self, range: &Range<usize>, frames: &mut Frames) {
        let mut at = range.start;
        while let Some(page) = self.tables.next(at, range.end) {
            if let Some(frame) = self.tables.take(page) {
                mmu::invalidate_asid_page(self.asid, page);
                frames.release(frame);
            }
            at = page + PAGE;
        }
        let mut block = range.start & !(BLOCK - 1);
        while block < range.end {
            if self.areas().is_free(&(block..block + BLOCK)) {
                self.tables.release_block(block, frames);
            }
            block += BLOCK;
        }
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
        if permissions.write && permissions.execute {
            return Err(Error::WritableCode);
        }
        self.areas_mut().protect(range, permissions)?;
        let mut at = range.start;
        while let Some(page) = self.tables.next(at, range.end) {
            let shared = !self.is_exclusive(page, frames);
            self.tables.set_permissions(page, permissions, shared);
            mmu::invalidate_asid_page(self.asid, page);
            if permissions.execute
                && let Some(Page { frame, .. }) = self.tables.page(page)
            {
                // SAFETY: the frame is mapped, as it is allocated.
                unsafe { cache::synchronise_code(frame, PAGE) };
            }
            at = page + PAGE;
        }
        Ok(())
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

    /// Serves an access that has no translation: the page gets a frame, or one of its own. An access
    /// that has one by now is served as well.
    pub fn fault(
        &mut self,
        address: usize,
        access: Access,
        frames: &mut Frames,
    ) -> Result<(), Denied> {
        let page = address & !(PAGE - 1);
        let area = *self.areas().find(address).ok_or(Denied::NoArea)?;
        if !area.permissions.allow(access) {
            return Err(Denied::Permission);
        }
        match self.tables.page(page) {
            None => self.fill(page, &area, frames),
            Some(present) if access == Access::Write && !present.writable => {
                self.make_own(page, area.permissions, frames)
            }
            Some(_) => Ok(()),
        }
    }

    /// Gives a page its initial content.
    fn fill(&mut self, page: usize, area: &Area, frames: &mut Frames) -> Result<(), Denied> {
        if !self.tables.prepare(page, frames) {
            return Err(Denied::NoMemory);
        }
        let frame = frames.allocate().ok_or(Denied::NoMemory)?;
        if let Backing::Bytes(bytes, offset) = area.backing {
            let from = offset.saturating_add(page - area.start).min(bytes.len());
            frame.write(0, &bytes[from..]);
        }
        if area.permissions.execute {
            // SAFETY: the frame is mapped, as it is allocated.
            unsafe { cache::synchronise_code(frame.address(), PAGE) };
        }
        self.tables.put(page, frame, area.permissions, false);
        Ok(())
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
    fn resolve(
        &mut self,
        page: usize,
        access: Access,
        frames: &mut Frames,
    ) -> Result<Page, Denied> {
        self.fault(page, access, frames)?;
        self.tables.page(page).ok_or(Denied::NoArea)
    }

    /// Copies bytes from the process.
    pub fn read(&mut self, from: usize, to: &mut [u8], frames: &mut Frames) -> Result<(), Denied> {
        self.each_page(from, to.len(), Access::Read, frames, |frame, at, part| {
            frame.read(at, &mut to[part]);
        })
    }

    /// Copies bytes to the process.
    pub fn write(&mut self, to: usize, from: &[u8], frames: &mut Frames) -> Result<(), Denied> {
        self.each_page(to, from.len(), Access::Write, frames, |frame, at, part| {
            frame.write(at, &from[part]);
        })
    }

    /// Copies a string from the process, up to its NUL, which is not copied; returns its length.
    /// That is the length of `to` if there is no NUL before.
    pub fn read_string(
        &mut self,
        from: usize,
        to: &mut [u8],
        frames: &mut Frames,
    ) -> Result<usize, Denied> {
        let mut length = 0;
        while length < to.len() {
            let start = from.wrapping_add(length);
            let part = (PAGE - start % PAGE).min(to.len() - length);
            let bytes = &mut to[length..length + part];
            self.read(start, bytes, frames)?;
            if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
                return Ok(length + end);
            }
            length += part;
        }
        Ok(length)
    }

    /// Calls `action` with the frame of each page of a range, the offset in it and the part of the
    /// range.
    fn each_page(
        &mut self,
        start: usize,
        length: usize,
        access: Access,
        frames: &mut Frames,
        mut action: impl FnMut(&Frame, usize, Range<usize>),
    ) -> Result<(), Denied> {
        let mut done = 0;
        while done < length {
            let address = start.checked_add(done).ok_or(Denied::NoArea)?;
            let offset = address % PAGE;
            let part = (PAGE - offset).min(length - done);
            let page = self.resolve(address - offset, access, frames)?;
            // SAFETY: the entry holds the frame; this `Frame` of it is not kept.
            let held = unsafe { Frame::from_address(page.frame) };
            action(&held, offset, done..done + part);
            let _ = held.into_address();
            done += part;
        }
        Ok(())
    }

    /// Calls `action` with a word of the process that it may change while the process runs: 32 bits at
    /// a multiple of 4.
    pub fn with_word<R>(
        &mut self,
        address: usize,
        frames: &mut Frames,
        action: impl FnOnce(&AtomicU32) -> R,
    ) -> Result<R, Denied> {
        let offset = address % PAGE;
        if !offset.is_multiple_of(size_of::<u32>()) {
            return Err(Denied::NoArea);
        }
        let page = self.resolve(address - offset, Access::Write, frames)?;
        // SAFETY: the word lies in a frame that the entry holds, which is mapped one to one and
        // aligned; the process is its only other user.
        Ok(action(unsafe {
            AtomicU32::from_ptr((page.frame + offset) as *mut u32)
        }))
    }

    /// A copy of the address space for another ASID, which shares all frames until they are written.
    pub fn fork(
        &mut self,
        kernel: KernelPart,
        asid: u8,
        frames: &mut Frames,
    ) -> Result<Self, Error> {
        let list = frames.allocate_copy(&self.list).ok_or(Error::NoMemory)?;
        let mut child = Self::with_list(list, kernel, asid, frames)?;
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
        // The number of areas stays as it is.
        for index in 0..self.areas().iter().len() {
            let Some(area) = self.areas().iter().nth(index).copied() else {
                break;
            };
            let mut at = area.start;
            while let Some(page) = self.tables.next(at, area.end) {
                if !child.tables.prepare(page, frames) {
                    return Err(Error::NoMemory);
                }
                if let Some(frame) = self.tables.share(page, frames) {
                    self.tables.set_permissions(page, area.permissions, true);
                    child.tables.put(page, frame, area.permissions, true);
                }
                at = page + PAGE;
            }
        }
        Ok(())
    }

    /// Releases all frames and tables. No core uses the tables any more.
    pub fn release(mut self, frames: &mut Frames) {
        for part in [self.fixed_part(), self.main_part()] {
            let mut at = part.start;
            while let Some(page) = self.tables.next(at, part.end) {
                if let Some(frame) = self.tables.take(page) {
                    frames.release(frame);
                }
                at = page + PAGE;
            }
        }
        mmu::invalidate_asid(self.asid);
        self.tables.release(frames);
        frames.release(self.list);
    }
}
