//! Areas of an address space: a sorted array without overlaps, in frames.

use crate::{Access, Error, PAGE};
use core::ops::Range;
use tenon_frames::{Frame, Frames, Object};

/// What a process may do in an area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Loads.
    pub read: bool,
    /// Stores.
    pub write: bool,
    /// Instruction fetches.
    pub execute: bool,
}

impl Permissions {
    /// Whether they allow an access. A page that can be written or executed can be read.
    #[must_use]
    pub fn allow(self, access: Access) -> bool {
        match access {
            Access::Read => self.read || self.write || self.execute,
            Access::Write => self.write,
            Access::Execute => self.execute,
        }
    }
}

/// The content of an area that is mapped.
#[derive(Debug)]
pub enum Backing<'a> {
    /// Zeros.
    Zero,
    /// An object from a page on.
    Object(&'a Object, u32, Sharing),
}

/// Where stores to pages of an object go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// To a copy.
    Private,
    /// To the object.
    Shared,
    /// To the object, which was opened for reading alone: the area never becomes writable.
    SharedReadOnly,
}

/// A range of pages with the same permissions and one backing.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    /// The first address.
    pub start: usize,
    /// The first address behind it.
    pub end: usize,
    /// The object that has its content, or zero.
    key: usize,
    /// The page of the object at the start.
    page: u32,
    /// What the process may do there.
    pub permissions: Permissions,
    /// Where stores go, whether the process has locked it, whether it has pages of its own.
    kind: Kind,
}

/// What is stated of an area in bits, in one byte: an area has 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind(u8);

impl Kind {
    const SHARED: u8 = 1;
    const READ_ONLY: u8 = 2;
    const LOCKED: u8 = 4;
    const OWN_PAGES: u8 = 8;

    fn of(sharing: Sharing) -> Self {
        Self(match sharing {
            Sharing::Private => 0,
            Sharing::Shared => Self::SHARED,
            Sharing::SharedReadOnly => Self::SHARED | Self::READ_ONLY,
        })
    }

    fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    fn locked(self, locked: bool) -> Self {
        Self(self.0 & !Self::LOCKED | if locked { Self::LOCKED } else { 0 })
    }

    /// The kind of two areas as one, where they differ in their pages alone.
    fn merged(self, other: Self) -> Option<Self> {
        let differs = (self.0 ^ other.0) & !Self::OWN_PAGES != 0;
        (!differs).then_some(Self(self.0 | other.0))
    }
}

impl Area {
    /// An area with a content, of which it has a reference only once it is inserted.
    pub(crate) fn new(
        range: &Range<usize>,
        permissions: Permissions,
        backing: &Backing<'_>,
    ) -> Self {
        let (key, page, sharing) = match backing {
            Backing::Zero => (0, 0, Sharing::Private),
            Backing::Object(object, page, sharing) => (object.key(), *page, *sharing),
        };
        Self {
            start: range.start,
            end: range.end,
            key,
            page,
            permissions,
            kind: Kind::of(sharing),
        }
    }

    /// Whether stores go to the object.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.kind.has(Kind::SHARED)
    }

    /// Whether the process has locked it (`mlock`), which has no effect: its frames stay in any case.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.kind.has(Kind::LOCKED)
    }

    /// The area, locked or not.
    pub(crate) fn with_lock(self, locked: bool) -> Self {
        let kind = self.kind.locked(locked);
        Self { kind, ..self }
    }

    /// Whether all its frames are those that its object has.
    pub(crate) fn is_of_object(&self) -> bool {
        self.key != 0 && !self.kind.has(Kind::OWN_PAGES)
    }

    /// What its object has in common with other areas of it, and the page of the object at an
    /// address of the area.
    #[must_use]
    pub fn object(&self, address: usize) -> Option<(usize, u64)> {
        let distance = (address.wrapping_sub(self.start) / PAGE) as u64;
        (self.key != 0).then(|| (self.key, u64::from(self.page) + distance))
    }

    /// Calls `action` with the object, if it has one.
    pub(crate) fn with_object<R>(&self, action: impl FnOnce(&Object) -> R) -> Option<R> {
        if self.key == 0 {
            return None;
        }
        // SAFETY: an area that is inserted holds a reference; this `Object` of it is not kept. One
        // that is not yet was made of a reference that its caller has.
        let object = unsafe { Object::from_key(self.key) };
        let result = action(&object);
        let _ = object.into_key();
        Some(result)
    }

    /// Whether its object has a frame for the page of an address.
    #[must_use]
    pub fn has_object_page(&self, address: usize) -> bool {
        let page = self.object(address).map_or(0, |(_, page)| page);
        self.with_object(|object| object.has_page(page))
            .unwrap_or(false)
    }

    /// Releases pages of its object, which are zeros then.
    pub fn discard_object_pages(&self, pages: Range<u64>, frames: &mut Frames) {
        self.with_object(|object| frames.discard_pages(object, pages, &mut usize::MAX.clone()));
    }

    /// The area with other bounds within it.
    fn clip(self, start: usize, end: usize) -> Self {
        let page = if self.key == 0 {
            0
        } else {
            self.page + ((start - self.start) / PAGE) as u32
        };
        Self {
            start,
            end,
            page,
            ..self
        }
    }

    /// The area at another place, of another size.
    pub(crate) fn moved(self, range: &Range<usize>) -> Self {
        Self {
            start: range.start,
            end: range.end,
            ..self
        }
    }

    /// Sets the page of the object at the start.
    pub(crate) fn set_page(&mut self, page: u32) {
        self.page = page;
    }

    /// This area and the next one as one, if that continues it.
    fn joined(&self, next: &Self) -> Option<Self> {
        let page = self.clip(self.end, self.end).page;
        let continues = self.end == next.start
            && self.permissions == next.permissions
            && self.key == next.key
            && page == next.page;
        let kind = self.kind.merged(next.kind).filter(|_| continues)?;
        let end = next.end;
        Some(Self { end, kind, ..*self })
    }

    /// Whether its stores change what other areas have.
    fn writes_object(&self) -> bool {
        self.is_shared() && self.permissions.write
    }

    /// Takes a reference to the object.
    fn hold(&self, frames: &mut Frames) {
        self.with_object(|object| {
            let _ = frames.share_object(object).into_key();
            frames.count_use(object, (self.writes_object(), self.permissions.execute), 1);
        });
    }

    /// Ends the reference to the object.
    fn release(&self, frames: &mut Frames) {
        if self.key != 0 {
            // SAFETY: `hold` took the reference.
            let object = unsafe { Object::from_key(self.key) };
            frames.count_use(
                &object,
                (self.writes_object(), self.permissions.execute),
                -1,
            );
            frames.release_object(object);
        }
    }

    /// Whether permissions would have code that is written elsewhere, or the other way round.
    pub(crate) fn is_writable_code(&self, permissions: Permissions, frames: &Frames) -> bool {
        if permissions.write && permissions.execute {
            return true;
        }
        let used = self.with_object(|object| {
            let (writers, executors) = frames.uses(object);
            permissions.execute && writers > u32::from(self.writes_object())
                || permissions.write && self.is_shared() && executors > 0
        });
        used.unwrap_or(false)
    }
}

/// Areas in a frame.
const IN_FRAME: usize = PAGE / size_of::<Area>();
/// Frames of areas.
const FRAMES: usize = 8;

/// At most `N` areas, sorted by address.
#[derive(Debug)]
pub struct Areas<const N: usize> {
    count: usize,
    frames: [Option<Frame>; FRAMES],
}

impl<const N: usize> Areas<N> {
    /// No area.
    #[must_use]
    pub const fn new() -> Self {
        const { assert!(N <= FRAMES * IN_FRAME) };
        Self {
            count: 0,
            frames: [const { None }; FRAMES],
        }
    }

    /// The number of areas.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    fn place(&self, index: usize) -> *mut Area {
        let frame = self.frames[index / IN_FRAME].as_ref();
        let frame = frame.expect("areas have frames").address();
        // SAFETY: the place lies within the frame.
        unsafe { (frame as *mut Area).add(index % IN_FRAME) }
    }

    /// The area of an index.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Area> {
        // SAFETY: areas below the count were written, and this array alone has the frame.
        (index < self.count).then(|| unsafe { &*self.place(index) })
    }

    fn at(&self, index: usize) -> &Area {
        self.get(index).expect("an index below the count")
    }

    fn set(&mut self, index: usize, area: Area) {
        // SAFETY: as for `get`; the place is aligned, as frames are.
        unsafe { self.place(index).write(area) }
    }

    /// The areas, by address.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Area> + ExactSizeIterator {
        (0..self.count).map(|index| self.at(index))
    }

    /// The first index from which on no area meets a condition that the areas before meet.
    fn partition_point(&self, condition: impl Fn(&Area) -> bool) -> usize {
        let (mut from, mut to) = (0, self.count);
        while from < to {
            let middle = usize::midpoint(from, to);
            if condition(self.at(middle)) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    }

    /// The area of an address.
    #[must_use]
    pub fn find(&self, address: usize) -> Option<&Area> {
        let area = self.get(self.first_behind(address))?;
        (area.start <= address).then_some(area)
    }

    /// States that the area of an address has pages of its own.
    pub(crate) fn set_own_pages(&mut self, address: usize) {
        let index = self.first_behind(address);
        if let Some(mut area) = self.get(index).copied() {
            area.kind.0 |= Kind::OWN_PAGES;
            self.set(index, area);
        }
    }

    /// The area of an address, or the next one behind it.
    #[must_use]
    pub fn next(&self, address: usize) -> Option<&Area> {
        self.get(self.first_behind(address))
    }

    /// The index of the first area that ends behind an address.
    fn first_behind(&self, address: usize) -> usize {
        self.partition_point(|area| area.end <= address)
    }

    /// The indices of the areas that overlap a range.
    pub(crate) fn within(&self, range: &Range<usize>) -> Range<usize> {
        let first = self.first_behind(range.start);
        let end = self.partition_point(|area| area.start < range.end);
        first..end.max(first)
    }

    /// Whether no area overlaps a range.
    #[must_use]
    pub fn is_free(&self, range: &Range<usize>) -> bool {
        self.within(range).is_empty()
    }

    /// Whether each page of a range is in an area.
    #[must_use]
    pub fn covers(&self, range: &Range<usize>) -> bool {
        let mut covered = range.start;
        for area in self.within(range).map(|index| self.at(index)) {
            if area.start > covered {
                return false;
            }
            covered = area.end;
        }
        covered >= range.end
    }

    /// Gives further areas room; without it, nothing changes.
    pub(crate) fn reserve(&mut self, further: usize, frames: &mut Frames) -> Result<(), Error> {
        let count = self.count + further;
        if count > N {
            return Err(Error::NoMemory);
        }
        for place in self.frames.iter_mut().take(count.div_ceil(IN_FRAME)) {
            if place.is_none() {
                *place = Some(frames.allocate().ok_or(Error::NoMemory)?);
            }
        }
        Ok(())
    }

    /// Makes a place for an area, for which there is room.
    fn insert_at(&mut self, index: usize, area: Area) {
        for behind in (index..self.count).rev() {
            self.set(behind + 1, *self.at(behind));
        }
        self.set(index, area);
        self.count += 1;
    }

    /// Removes the places of a range of indices.
    fn remove_at(&mut self, indices: Range<usize>) {
        for (to, from) in (indices.start..).zip(indices.end..self.count) {
            self.set(to, *self.at(from));
        }
        self.count -= indices.len();
    }

    /// Inserts an area where none is, and merges it with its neighbours.
    pub(crate) fn insert(&mut self, area: Area, frames: &mut Frames) -> Result<(), Error> {
        if !self.is_free(&(area.start..area.end)) {
            return Err(Error::Occupied);
        }
        let index = self.first_behind(area.start);
        let previous = index.checked_sub(1).and_then(|index| self.get(index));
        if let Some(joined) = previous.and_then(|previous| previous.joined(&area)) {
            self.set(index - 1, joined);
            self.merge(index - 1, frames);
            return Ok(());
        }
        self.reserve(1, frames)?;
        area.hold(frames);
        self.insert_at(index, area);
        self.merge(index, frames);
        Ok(())
    }

    /// Merges the area of an index with the next one if that continues it.
    fn merge(&mut self, index: usize, frames: &mut Frames) {
        if let (Some(area), Some(next)) = (self.get(index), self.get(index + 1))
            && let Some(joined) = area.joined(next)
        {
            let next = *next;
            self.set(index, joined);
            self.remove_at(index + 1..index + 2);
            next.release(frames);
        }
    }

    /// Divides the area around an address, for which there is room.
    fn split(&mut self, address: usize, frames: &mut Frames) {
        let index = self.first_behind(address);
        if let Some(area) = self.get(index).copied()
            && area.start < address
        {
            let behind = area.clip(address, area.end);
            behind.hold(frames);
            self.set(index, area.clip(area.start, address));
            self.insert_at(index + 1, behind);
        }
    }

    /// Divides the areas at the ends of a range; returns the indices of those within. Without room,
    /// nothing changes.
    fn divide(&mut self, range: &Range<usize>, frames: &mut Frames) -> Result<Range<usize>, Error> {
        let inside = |at: usize| self.find(at).is_some_and(|area| area.start < at);
        let splits = usize::from(inside(range.start)) + usize::from(inside(range.end));
        if splits > 0 {
            self.reserve(splits, frames)?;
            self.split(range.start, frames);
            self.split(range.end, frames);
        }
        Ok(self.within(range))
    }

    /// Removes a range from all areas. An area around it becomes two.
    pub(crate) fn remove(
        &mut self,
        range: &Range<usize>,
        frames: &mut Frames,
    ) -> Result<(), Error> {
        let indices = self.divide(range, frames)?;
        for index in indices.clone() {
            let area = *self.at(index);
            area.release(frames);
        }
        self.remove_at(indices);
        Ok(())
    }

    /// Changes the permissions of a range, all of which is in areas.
    pub(crate) fn protect(
        &mut self,
        range: &Range<usize>,
        permissions: Permissions,
        frames: &mut Frames,
    ) -> Result<(), Error> {
        if !self.covers(range) {
            return Err(Error::Occupied);
        }
        for area in self.within(range).map(|index| self.at(index)) {
            let read_only = area.kind.has(Kind::READ_ONLY);
            if area.is_writable_code(permissions, frames) || permissions.write && read_only {
                return Err(Error::WritableCode);
            }
        }
        let indices = self.divide(range, frames)?;
        for index in indices.clone() {
            let before = *self.at(index);
            let area = Area {
                permissions,
                ..before
            };
            area.hold(frames);
            before.release(frames);
            self.set(index, area);
        }
        // What is equal again, at the ends of the range too.
        for index in (indices.start.saturating_sub(1)..indices.end).rev() {
            self.merge(index, frames);
        }
        Ok(())
    }

    /// Locks the areas of a range, or ends that; what is between them stays free.
    pub(crate) fn lock(
        &mut self,
        range: &Range<usize>,
        locked: bool,
        frames: &mut Frames,
    ) -> Result<(), Error> {
        let indices = self.divide(range, frames)?;
        for index in indices.clone() {
            let area = self.at(index).with_lock(locked);
            self.set(index, area);
        }
        // What is equal again, at the ends of the range too.
        for index in (indices.start.saturating_sub(1)..indices.end).rev() {
            self.merge(index, frames);
        }
        Ok(())
    }

    /// The pages of a range that are locked.
    #[must_use]
    pub fn locked_pages(&self, range: &Range<usize>) -> usize {
        let areas = self.within(range).map(|index| self.at(index));
        let locked = areas.filter(|area| area.is_locked());
        let sizes = locked.map(|area| area.end.min(range.end) - area.start.max(range.start));
        sizes.sum::<usize>() / PAGE
    }

    /// The highest free range of `size` bytes in `bounds`.
    #[must_use]
    pub fn find_free(&self, size: usize, bounds: &Range<usize>) -> Option<usize> {
        let mut end = bounds.end;
        for area in self.within(bounds).rev().map(|index| self.at(index)) {
            if let Some(start) = end.checked_sub(size)
                && start >= area.end
            {
                break;
            }
            end = area.start;
        }
        end.checked_sub(size).filter(|start| *start >= bounds.start)
    }

    /// The pages of all areas.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.iter().map(|area| (area.end - area.start) / PAGE).sum()
    }

    /// A copy, in which nothing is locked.
    pub(crate) fn copy(&self, frames: &mut Frames) -> Result<Self, Error> {
        let mut copy = Self::new();
        if let Err(error) = copy.reserve(self.count, frames) {
            copy.release(frames);
            return Err(error);
        }
        for (index, area) in self.iter().enumerate() {
            area.hold(frames);
            copy.set(index, area.with_lock(false));
        }
        copy.count = self.count;
        Ok(copy)
    }

    /// Releases all areas, with the frames of the array.
    pub(crate) fn release(self, frames: &mut Frames) {
        for area in self.iter() {
            area.release(frames);
        }
        for frame in self.frames.into_iter().flatten() {
            frames.release(frame);
        }
    }
}

impl<const N: usize> Default for Areas<N> {
    fn default() -> Self {
        Self::new()
    }
}
