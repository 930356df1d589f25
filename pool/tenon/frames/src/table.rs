//! [`Table`]: numbered objects in frames.

use crate::allocator::{Allocator, Frame, PAGE};
use crate::page_map::PageMap;
use core::fmt;
use core::marker::PhantomData;

/// Objects with numbers, in frames that are allocated as needed and released when none of their
/// objects is left; a table that [lasts](Self::lasting) keeps its first frame. A table that is dropped
/// with frames loses them.
pub struct Table<T> {
    frames: PageMap,
    /// The address of the places in the first frame, and how many of them were written: these are found
    /// without a search.
    first: usize,
    written: u32,
    /// No number below is free.
    free: u32,
    /// No number from here on has an object.
    end: u32,
    limit: u32,
    /// The first frame stays.
    lasts: bool,
    objects: PhantomData<T>,
}

impl<T> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table of at most {} objects", self.limit)
    }
}

/// The head of a frame, in front of its places.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Head {
    /// Objects in it.
    count: u32,
    /// Places from here on were never written.
    fresh: u32,
}

/// The head of a frame.
fn head(frame: &Frame) -> *mut Head {
    frame.address() as *mut Head
}

impl<T> Table<T> {
    /// Bytes of a frame in front of its places.
    const HEAD: usize = size_of::<Head>().next_multiple_of(align_of::<Option<T>>());
    /// Objects in a frame.
    const IN_FRAME: u32 = {
        assert!(!core::mem::needs_drop::<T>() && align_of::<Option<T>>() <= PAGE / 2);
        ((PAGE - Self::HEAD) / size_of::<Option<T>>()) as u32
    };

    /// A table without an object, for numbers below `limit`.
    #[must_use]
    pub const fn new(limit: u32) -> Self {
        Self {
            frames: PageMap::new(),
            first: 0,
            written: 0,
            free: 0,
            end: 0,
            limit,
            lasts: false,
            objects: PhantomData,
        }
    }

    /// As [`new`](Self::new), for as long as the system runs: the frame of the first numbers is not
    /// released. For a table that often has one object, or none.
    #[must_use]
    pub const fn lasting(limit: u32) -> Self {
        Self {
            lasts: true,
            ..Self::new(limit)
        }
    }

    /// The limit of numbers.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// The places of a frame.
    fn places(frame: &Frame) -> *mut Option<T> {
        (frame.address() + Self::HEAD) as *mut Option<T>
    }

    /// The head of the frame of a place.
    fn head_of(place: *mut Option<T>) -> *mut Head {
        place.map_addr(|address| address & !(PAGE - 1)).cast()
    }

    /// The place of a number, if it was written.
    #[inline(always)]
    fn place(&self, number: u32) -> Option<*mut Option<T>> {
        if number < self.written {
            let first = self.first as *mut Option<T>;
            // SAFETY: the first frame has that many places, as long as the table has it.
            return Some(unsafe { first.add(number as usize) });
        }
        self.search(number)
    }

    /// As [`place`](Self::place), in any frame. Out of line, as each look-up would have it otherwise.
    #[inline(never)]
    fn search(&self, number: u32) -> Option<*mut Option<T>> {
        let frame = self.frames.get((number / Self::IN_FRAME).into())?;
        let index = number % Self::IN_FRAME;
        // SAFETY: each frame begins with its head, which zeros are as well.
        let fresh = unsafe { (*head(frame)).fresh };
        // SAFETY: the frame has that many places.
        (index < fresh).then(|| unsafe { Self::places(frame).add(index as usize) })
    }

    /// The object of a number.
    #[must_use]
    pub fn get(&self, number: u32) -> Option<&T> {
        // SAFETY: the place was written, and this table alone accesses it.
        unsafe { (*self.place(number)?).as_ref() }
    }

    /// The object of a number, to change it.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        // SAFETY: as for `get`, with exclusive access.
        unsafe { (*self.place(number)?).as_mut() }
    }

    /// Inserts an object with the lowest free number from `least` on; returns it if there is no
    /// number or no memory.
    pub fn insert(&mut self, object: T, least: u32, frames: &mut Allocator) -> Result<u32, T> {
        let mut number = self.free.max(least);
        while self.get(number).is_some() {
            number += 1;
        }
        if number >= self.limit {
            return Err(object);
        }
        let place = self.place(number);
        let Some(place) = place.or_else(|| self.extend(number, frames)) else {
            return Err(object);
        };
        // SAFETY: the place was written, and has no object; its frame begins with its head.
        unsafe {
            place.write(Some(object));
            (*Self::head_of(place)).count += 1;
        }
        if self.free >= least {
            self.free = number + 1;
        }
        self.end = self.end.max(number + 1);
        Ok(number)
    }

    /// Writes the places up to that of a number, which was not written. `None` without memory.
    fn extend(&mut self, number: u32, frames: &mut Allocator) -> Option<*mut Option<T>> {
        let (index, at) = (number / Self::IN_FRAME, number % Self::IN_FRAME);
        let frame = self.frames.get_or_allocate(index.into(), frames)?;
        let (head, places) = (head(frame), Self::places(frame));
        // SAFETY: the frame has a head and that many places, and nothing refers to those that were
        // not written yet.
        let place = unsafe {
            for place in (*head).fresh..=at {
                places.add(place as usize).write(None);
            }
            (*head).fresh = at + 1;
            places.add(at as usize)
        };
        if index == 0 {
            (self.first, self.written) = (places.addr(), at + 1);
        }
        Some(place)
    }

    /// Removes an object.
    pub fn remove(&mut self, number: u32, frames: &mut Allocator) -> Option<T> {
        let place = self.place(number)?;
        // SAFETY: as for `get_mut`.
        let object = unsafe { (*place).take() }?;
        self.free = self.free.min(number);
        if self.end == number + 1 {
            self.end = number;
        }
        let head = Self::head_of(place);
        // SAFETY: each frame begins with its head.
        let rest = unsafe {
            (*head).count -= 1;
            (*head).count
        };
        let index = u64::from(number / Self::IN_FRAME);
        if rest == 0 && !(self.lasts && index == 0) {
            self.frames.remove(index..index + 1, &mut 1, frames);
            self.written = if index == 0 { 0 } else { self.written };
        }
        Some(object)
    }

    /// The places of a frame that were written.
    fn written(frame: &Frame) -> &[Option<T>] {
        // SAFETY: each frame begins with its head, which zeros are as well; that many places were
        // written, and the table alone accesses them.
        unsafe {
            let fresh = (*head(frame)).fresh;
            core::slice::from_raw_parts(Self::places(frame), fresh as usize)
        }
    }

    /// The first number from `first` on that has an object.
    #[must_use]
    pub fn next(&self, first: u32) -> Option<u32> {
        self.next_where(first, |_| true)
    }

    /// The first number from `first` on that has an object which meets a condition.
    #[must_use]
    pub fn next_where(&self, first: u32, meets: impl Fn(&T) -> bool) -> Option<u32> {
        let mut number = first;
        while number < self.end {
            let (frame, at) = (number / Self::IN_FRAME, number % Self::IN_FRAME);
            let places = self.frames.get(frame.into()).map(Self::written);
            let rest = places.and_then(|places| places.get(at as usize..));
            let found = rest.and_then(|rest| {
                rest.iter()
                    .position(|place| place.as_ref().is_some_and(&meets))
            });
            if let Some(found) = found {
                return Some(number + found as u32);
            }
            number = (frame + 1) * Self::IN_FRAME;
        }
        None
    }

    /// The numbers of the objects from `first` on, in order.
    pub fn numbers(&self, first: u32) -> impl Iterator<Item = u32> {
        core::iter::successors(self.next(first), |number| self.next(number + 1))
    }

    /// The objects, in the order of their numbers.
    pub fn objects(&self) -> impl Iterator<Item = &T> {
        let frames = (0..self.end.div_ceil(Self::IN_FRAME)).map(u64::from);
        let frames = frames.filter_map(|index| self.frames.get(index));
        frames.flat_map(Self::written).flatten()
    }

    /// A table of what `object_of` makes of each object, by the same numbers; the part for which there
    /// was memory if there was not enough.
    pub fn copy(
        &self,
        mut object_of: impl FnMut(&T) -> T,
        frames: &mut Allocator,
    ) -> Result<Self, Self> {
        let mut copy = Self::new(self.limit);
        for index in 0..self.end.div_ceil(Self::IN_FRAME) {
            let Some(frame) = self.frames.get(index.into()) else {
                continue;
            };
            let Some(new) = copy.frames.get_or_allocate(index.into(), frames) else {
                return Err(copy);
            };
            let places = Self::places(new);
            let written = Self::written(frame);
            for (at, object) in written.iter().enumerate() {
                // SAFETY: the new frame has as many places, and nothing refers to them.
                unsafe { places.add(at).write(object.as_ref().map(&mut object_of)) };
            }
            // SAFETY: each frame begins with its head.
            unsafe { *head(new) = *head(frame) };
            if index == 0 {
                (copy.first, copy.written) = (places.addr(), written.len() as u32);
            }
            copy.end = self.end.min((index + 1) * Self::IN_FRAME);
        }
        (copy.free, copy.end) = (self.free, self.end);
        Ok(copy)
    }
}
