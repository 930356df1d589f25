//! [`Object`]: memory that files, mappings and processes share, page by page.

use crate::allocator::{Allocator, Copier, Frame, PAGE};
use crate::page_map::PageMap;
use crate::table::Table;
use core::ops::{Deref, DerefMut, Range};

/// Objects at most.
const OBJECTS: u32 = 1 << 17;
/// Pages that a step of a longer change releases.
const STEP: usize = 64;
/// Pages of an object of which it is known whether instruction fetches see their content.
const FETCHABLE: usize = 512;
/// No object.
const NO_OBJECT: u32 = u32::MAX;

/// What an object has.
#[derive(Debug)]
struct Record {
    number: u32,
    references: u32,
    /// Mappings through which it is written, and such as code.
    uses: (u32, u32),
    size: u64,
    /// The content of pages without a frame, then zeros.
    below: &'static [u8],
    pages: PageMap,
    /// Pages with content that instruction fetches see, a bit for each of the first ones.
    fetchable: [u64; FETCHABLE / 64],
    /// The next object that nothing refers to.
    next: u32,
}

/// A reference to an object: pages with a size, of which those that are accessed have frames. It
/// keeps the object until [`Frames::release_object`]; one that is dropped leaks it.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an object that is not released is lost"]
#[repr(transparent)]
pub struct Object(usize);

impl Object {
    fn record(&self) -> &Record {
        // SAFETY: the record stays in its place while there is a reference to the object, which this
        // is. It changes in functions of `Frames` alone, which have exclusive access and keep no
        // reference.
        unsafe { &*(self.0 as *const Record) }
    }

    /// The reference as a number, for an area, which holds it from now on.
    pub fn into_key(self) -> usize {
        self.0
    }

    /// The reference that [`into_key`](Self::into_key) turned into a number.
    ///
    /// # Safety
    ///
    /// The key is of that function, and of no other `Object` since.
    pub unsafe fn from_key(key: usize) -> Self {
        Self(key)
    }

    /// What all references to the object have in common.
    #[must_use]
    pub fn key(&self) -> usize {
        self.0
    }

    /// Bytes of the content.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.record().size
    }

    /// Copies bytes out of the object, up to its end; returns how many.
    pub fn read(&self, offset: u64, to: &mut [u8]) -> usize {
        let record = self.record();
        let rest = record.size.saturating_sub(offset);
        let length = to.len().min(usize::try_from(rest).unwrap_or(usize::MAX));
        let mut done = 0;
        while done < length {
            let from = offset + done as u64;
            let (index, at) = (from / PAGE as u64, (from % PAGE as u64) as usize);
            let part = (PAGE - at).min(length - done);
            let bytes = &mut to[done..done + part];
            match record.pages.get(index) {
                Some(frame) => frame.read(at, bytes),
                None => read_below(record.below, from, bytes),
            }
            done += part;
        }
        length
    }

    /// Copies bytes into a frame from `at` on, up to the end of the object; returns how many.
    pub fn read_to(
        &self,
        offset: u64,
        (to, at): (&Frame, usize),
        length: usize,
        copier: Copier,
    ) -> usize {
        let record = self.record();
        let rest = record.size.saturating_sub(offset);
        let length = length.min(usize::try_from(rest).unwrap_or(usize::MAX));
        let mut done = 0;
        while done < length {
            let from = offset + done as u64;
            let (index, start) = (from / PAGE as u64, (from % PAGE as u64) as usize);
            let part = (PAGE - start).min(length - done);
            match record.pages.get(index) {
                Some(frame) => copier.copy((frame, start), (to, at + done), part),
                None => read_below_to(record.below, from, (to, at + done), part, copier),
            }
            done += part;
        }
        length
    }

    /// How many pages from one on have no frame of the object for sure: none if that one has.
    #[must_use]
    pub fn gap(&self, index: u64) -> u64 {
        self.record().pages.gap(index)
    }

    /// Whether a page has a frame of the object.
    #[must_use]
    pub fn has_page(&self, index: u64) -> bool {
        self.record().pages.get(index).is_some()
    }
}

/// Sets whether instruction fetches see the content of a page; returns whether they did.
fn set_fetchable(pages: &mut [u64; FETCHABLE / 64], index: u64, fetchable: bool) -> bool {
    let Some(word) = pages.get_mut(index as usize / 64) else {
        return false;
    };
    let bit = 1 << (index % 64);
    let before = *word & bit != 0;
    *word = if fetchable { *word | bit } else { *word & !bit };
    before
}

/// A page of the image, if all of it is and it is aligned.
fn image_page(below: &'static [u8], index: u64) -> Option<Frame> {
    let from = usize::try_from(index)
        .unwrap_or(usize::MAX)
        .saturating_mul(PAGE);
    let below = below.get(from..).unwrap_or_default();
    below.first_chunk().and_then(Frame::of_image)
}

/// Copies bytes from an offset on, and zeros behind their end.
pub fn read_below(below: &[u8], offset: u64, to: &mut [u8]) {
    let from = usize::try_from(offset).unwrap_or(usize::MAX);
    let below = below.get(from..).unwrap_or_default();
    let count = to.len().min(below.len());
    to[..count].copy_from_slice(&below[..count]);
    to[count..].fill(0);
}

/// As [`read_below`], into a frame from an offset on.
pub fn read_below_to(
    below: &[u8],
    offset: u64,
    (to, at): (&Frame, usize),
    length: usize,
    copier: Copier,
) {
    let from = usize::try_from(offset).unwrap_or(usize::MAX);
    let below = below.get(from..).unwrap_or_default();
    let count = length.min(below.len());
    copier.write(&below[..count], (to, at));
    if count < length {
        to.clear(at + count, length - count);
    }
}

/// The frames of a range of RAM, and the objects that have some of them.
#[derive(Debug)]
pub struct Frames {
    allocator: Allocator,
    objects: Table<Record>,
    /// The first object that nothing refers to and that has pages.
    orphans: u32,
}

impl Deref for Frames {
    type Target = Allocator;

    fn deref(&self) -> &Allocator {
        &self.allocator
    }
}

impl DerefMut for Frames {
    fn deref_mut(&mut self) -> &mut Allocator {
        &mut self.allocator
    }
}

impl Frames {
    const fn of(allocator: Allocator) -> Self {
        Self {
            allocator,
            objects: Table::new(OBJECTS),
            orphans: NO_OBJECT,
        }
    }

    /// All frames of a range as free ones. The range is rounded inwards to pages; its first pages
    /// hold a table.
    ///
    /// # Safety
    ///
    /// The range is RAM that is mapped one to one and used by no other code from now on.
    #[must_use]
    pub unsafe fn new(range: Range<usize>) -> Self {
        // SAFETY: as the caller promises.
        Self::of(unsafe { Allocator::new(range) })
    }

    /// The same frames, with a function that copies between them.
    ///
    /// # Safety
    ///
    /// The function copies bytes from the first place to the second one, as [`core::ptr::copy`] does.
    #[must_use]
    pub unsafe fn copying_by(mut self, copy: unsafe fn(*const u8, *mut u8, usize)) -> Self {
        self.allocator.copier = Copier(copy);
        self
    }

    /// Frames of memory that is not freed, for tests on the host.
    #[cfg(not(target_os = "none"))]
    #[must_use]
    pub fn of_host(pages: usize) -> Self {
        Self::of(Allocator::of_host(pages))
    }

    #[expect(clippy::mut_from_ref, reason = "the record lies in a frame")]
    fn record_mut<'a>(&mut self, object: &'a Object) -> &'a mut Record {
        // SAFETY: as for `Object::record`; the exclusive access to the frames is one to all records,
        // and each function below has one such reference at a time.
        unsafe { &mut *(object.0 as *mut Record) }
    }

    /// An object with the content of a slice, of its size; `None` without memory.
    pub fn create_object(&mut self, below: &'static [u8]) -> Option<Object> {
        let record = Record {
            number: 0,
            references: 1,
            uses: (0, 0),
            size: below.len() as u64,
            below,
            pages: PageMap::new(),
            fetchable: [0; FETCHABLE / 64],
            next: NO_OBJECT,
        };
        let number = self.objects.insert(record, 0, &mut self.allocator);
        let number = number.ok()?;
        let record = self.objects.get_mut(number)?;
        record.number = number;
        Some(Object(core::ptr::from_mut(record) as usize))
    }

    /// A further reference to an object.
    pub fn share_object(&mut self, object: &Object) -> Object {
        let record = self.record_mut(object);
        record.references = record
            .references
            .checked_add(1)
            .expect("too many references to an object");
        Object(object.0)
    }

    /// Counts a use of an object by a mapping, by writing or as code.
    pub fn count_use(&mut self, object: &Object, (writes, executes): (bool, bool), change: i32) {
        let (writers, executors) = &mut self.record_mut(object).uses;
        *writers = writers.saturating_add_signed(change * i32::from(writes));
        *executors = executors.saturating_add_signed(change * i32::from(executes));
    }

    /// Mappings that write an object, and those that have it as code.
    #[must_use]
    pub fn uses(&self, object: &Object) -> (u32, u32) {
        object.record().uses
    }

    /// References to an object.
    #[must_use]
    pub fn references(&self, object: &Object) -> u32 {
        object.record().references
    }

    /// Ends a reference. After the last one, the pages are released by [`reclaim`](Self::reclaim),
    /// a few of them at once.
    pub fn release_object(&mut self, object: Object) {
        let orphans = self.orphans;
        let record = self.record_mut(&object);
        record.references -= 1;
        if record.references == 0 {
            record.next = orphans;
            self.orphans = record.number;
            self.reclaim();
        }
    }

    /// Releases some pages of objects that nothing refers to; returns whether there are more.
    pub fn reclaim(&mut self) -> bool {
        let number = self.orphans;
        if let Some(record) = self.objects.get_mut(number) {
            let frames = &mut self.allocator;
            if record.pages.remove(0..u64::MAX, &mut STEP.clone(), frames) {
                self.orphans = record.next;
                self.objects.remove(number, frames);
            }
        }
        self.orphans != NO_OBJECT
    }

    /// A page of an object with a frame of its own, which has its content; `None` without memory.
    #[inline]
    fn own_page<'a>(&mut self, object: &'a Object, index: u64) -> Option<&'a Frame> {
        match object.record().pages.get(index) {
            Some(frame) => Some(frame),
            None => self.make_page(object, index),
        }
    }

    #[inline(never)]
    fn make_page<'a>(&mut self, object: &'a Object, index: u64) -> Option<&'a Frame> {
        let record = self.record_mut(object);
        let frame = record.pages.get_or_allocate(index, self)?;
        let from = usize::try_from(index).unwrap_or(usize::MAX);
        let below = record.below.get(from.saturating_mul(PAGE)..);
        frame.write(0, below.unwrap_or_default());
        set_fetchable(&mut record.fetchable, index, false);
        Some(frame)
    }

    /// Whether instruction fetches have to be made to see the content of a page, from now on not: the
    /// caller does so. Any change of the page changes that.
    pub fn begin_fetches(&mut self, object: &Object, index: u64) -> bool {
        !set_fetchable(&mut self.record_mut(object).fetchable, index, true)
    }

    /// A reference to a page, which writes to the object are seen in and which changes it.
    pub fn object_page(&mut self, object: &Object, index: u64) -> Option<Frame> {
        let frame = self.own_page(object, index)?;
        set_fetchable(&mut self.record_mut(object).fetchable, index, false);
        Some(self.share(frame))
    }

    /// As [`object_view`](Self::object_view), if the page has a frame or lies in the image.
    pub fn present_view(&mut self, object: &Object, index: u64) -> Option<Frame> {
        let record = object.record();
        if index >= record.size.div_ceil(PAGE as u64) {
            return None;
        }
        match record.pages.get(index) {
            Some(frame) => Some(self.share(frame)),
            None => image_page(record.below, index),
        }
    }

    /// A reference to a page with the present content, which must not be written: it can lie in the
    /// image.
    pub fn object_view(&mut self, object: &Object, index: u64) -> Option<Frame> {
        let record = object.record();
        if record.pages.get(index).is_none()
            && let Some(page) = image_page(record.below, index)
        {
            return Some(page);
        }
        let frame = self.own_page(object, index)?;
        Some(self.share(frame))
    }

    /// Writes bytes to an object, which grows by it; returns how many there was memory for.
    pub fn write_object(&mut self, object: &Object, offset: u64, from: &[u8]) -> usize {
        self.write_object_with(object, offset, from.len(), |frame, at, part| {
            frame.write(at, &from[part]);
        })
    }

    /// Writes bytes of a frame from `at` on to an object as [`write_object`](Self::write_object) does.
    pub fn write_object_from(
        &mut self,
        object: &Object,
        offset: u64,
        (from, at): (&Frame, usize),
        length: usize,
    ) -> usize {
        let copier = self.copier;
        self.write_object_with(object, offset, length, |frame, to, part| {
            copier.copy((from, at + part.start), (frame, to), part.len());
        })
    }

    /// Writes `length` bytes to an object: `put` writes a range of them into a frame from an offset on.
    fn write_object_with(
        &mut self,
        object: &Object,
        offset: u64,
        length: usize,
        mut put: impl FnMut(&Frame, usize, Range<usize>),
    ) -> usize {
        let (mut done, mut relieved) = (0, false);
        while done < length {
            let to = offset + done as u64;
            let (index, at) = (to / PAGE as u64, (to % PAGE as u64) as usize);
            let part = (PAGE - at).min(length - done);
            let Some(frame) = self.own_page(object, index) else {
                if core::mem::replace(&mut relieved, true) || !self.relieve() {
                    break;
                }
                continue;
            };
            put(frame, at, done..done + part);
            set_fetchable(&mut self.record_mut(object).fetchable, index, false);
            done += part;
        }
        let record = self.record_mut(object);
        if done > 0 {
            record.size = record.size.max(offset + done as u64);
        }
        done
    }

    /// Gives a page of an object a frame; returns whether there was memory.
    pub fn reserve_page(&mut self, object: &Object, index: u64) -> bool {
        self.own_page(object, index).is_some()
    }

    /// Changes the size of an object, by a step if it has many pages more; returns whether that is
    /// done.
    pub fn resize_object(&mut self, object: &Object, size: u64) -> bool {
        let record = self.record_mut(object);
        record.fetchable = [0; FETCHABLE / 64];
        if size < record.size {
            let first = size.div_ceil(PAGE as u64);
            // Also when it is not done: what was below is not seen where pages are released.
            let below = usize::try_from(size).unwrap_or(usize::MAX);
            record.below = &record.below[..record.below.len().min(below)];
            if !record
                .pages
                .remove(first..u64::MAX, &mut STEP.clone(), self)
            {
                return false;
            }
            let at = (size % PAGE as u64) as usize;
            if let Some(frame) = record.pages.get(size / PAGE as u64) {
                frame.write(at, &[0; PAGE][at..]);
            }
        }
        record.size = size;
        true
    }

    /// Releases pages of a range of an object, at most `budget`; returns whether none is left. They
    /// have their content of the beginning then.
    pub fn discard_pages(
        &mut self,
        object: &Object,
        range: Range<u64>,
        budget: &mut usize,
    ) -> bool {
        let record = self.record_mut(object);
        record.fetchable = [0; FETCHABLE / 64];
        record.pages.remove(range, budget, self)
    }

    /// Frees frames for a request that there was no memory for: those of objects that nothing refers
    /// to, and copies of pages of the image that nothing maps. Returns whether there is one.
    pub fn relieve(&mut self) -> bool {
        while self.reclaim() {}
        let mut next = 0;
        while let Some(number) = self.objects.next(next) {
            next = number + 1;
            if let Some(record) = self.objects.get_mut(number) {
                drop_copies(record, &mut self.allocator);
            }
        }
        self.available() > 0
    }
}

/// Releases the frames of an object that nothing else refers to and that has the content below it.
fn drop_copies(record: &mut Record, frames: &mut Allocator) {
    for (index, below) in (0..).zip(record.below.chunks(PAGE)) {
        if record.pages.is_empty() {
            return;
        }
        let is_copy = record.pages.get(index).is_some_and(|frame| {
            let mut bytes = [0; PAGE / 8];
            frames.is_exclusive(frame)
                && (0..PAGE).step_by(bytes.len()).all(|at| {
                    frame.read(at, &mut bytes);
                    let below = below.get(at..).unwrap_or_default();
                    let (same, zeros) = bytes.split_at(below.len().min(bytes.len()));
                    below.starts_with(same) && zeros.iter().all(|byte| *byte == 0)
                })
        });
        if is_copy {
            record.pages.remove(index..index + 1, &mut 1, frames);
            set_fetchable(&mut record.fetchable, index, false);
        }
    }
}
