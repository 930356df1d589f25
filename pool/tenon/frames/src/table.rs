//! [`Table`]: numbered objects in frames.

use crate::{Frames, PAGE, PageMap};
use core::fmt;
use core::marker::PhantomData;

/// Objects with numbers, in frames that are allocated as needed and released when none of their
/// objects is left. A table that is dropped with objects loses their frames.
pub struct Table<T> {
    frames: PageMap,
    /// No number below is free.
    free: u32,
    limit: u32,
    objects: PhantomData<T>,
}

impl<T> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table of at most {} objects", self.limit)
    }
}

impl<T> Table<T> {
    /// Objects in a frame.
    const IN_FRAME: u32 = {
        assert!(!core::mem::needs_drop::<T>() && align_of::<Option<T>>() <= PAGE);
        (PAGE / size_of::<Option<T>>()) as u32
    };

    /// A table without an object, for numbers below `limit`.
    #[must_use]
    pub const fn new(limit: u32) -> Self {
        Self {
            frames: PageMap::new(),
            free: 0,
            limit,
            objects: PhantomData,
        }
    }

    /// The limit of numbers.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// The place of a number.
    fn place(&self, number: u32) -> Option<*mut Option<T>> {
        let frame = self.frames.get((number / Self::IN_FRAME).into())?;
        let places = frame.address() as *mut Option<T>;
        // SAFETY: the frame has that many places.
        Some(unsafe { places.add((number % Self::IN_FRAME) as usize) })
    }

    /// The object of a number.
    #[must_use]
    pub fn get(&self, number: u32) -> Option<&T> {
        // SAFETY: the place was initialised when its frame was allocated, and this table alone
        // accesses it.
        unsafe { (*self.place(number)?).as_ref() }
    }

    /// The object of a number, to change it.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        // SAFETY: as for `get`, with exclusive access.
        unsafe { (*self.place(number)?).as_mut() }
    }

    /// Inserts an object with the lowest free number from `least` on; returns it if there is no
    /// number or no memory.
    pub fn insert(&mut self, object: T, least: u32, frames: &mut Frames) -> Result<u32, T> {
        let mut number = self.free.max(least);
        while self.get(number).is_some() {
            number += 1;
        }
        if number >= self.limit {
            return Err(object);
        }
        let index = u64::from(number / Self::IN_FRAME);
        if self.frames.get(index).is_none() {
            let Some(frame) = self.frames.get_or_allocate(index, frames) else {
                return Err(object);
            };
            let places = frame.address() as *mut Option<T>;
            for place in 0..Self::IN_FRAME as usize {
                // SAFETY: the frame has that many places, and nothing refers to them yet.
                unsafe { places.add(place).write(None) };
            }
        }
        if self.free >= least {
            self.free = number + 1;
        }
        if let Some(place) = self.place(number) {
            // SAFETY: as for `get_mut`.
            unsafe { *place = Some(object) };
        }
        Ok(number)
    }

    /// Removes an object.
    pub fn remove(&mut self, number: u32, frames: &mut Frames) -> Option<T> {
        let place = self.place(number)?;
        // SAFETY: as for `get_mut`.
        let object = unsafe { (*place).take() }?;
        self.free = self.free.min(number);
        let index = number / Self::IN_FRAME;
        let first = index * Self::IN_FRAME;
        if (first..first + Self::IN_FRAME).all(|number| self.get(number).is_none()) {
            let index = u64::from(index);
            self.frames.remove(index..index + 1, &mut 1, frames);
        }
        Some(object)
    }

    /// The numbers of the objects from `first` on, in order.
    pub fn numbers(&self, first: u32) -> impl Iterator<Item = u32> {
        // Numbers without a frame are skipped one by one: tables are dense.
        (first..self.limit).filter(|number| self.get(*number).is_some())
    }
}
