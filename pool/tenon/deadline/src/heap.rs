//! [`Deadlines`]: a binary heap of deadlines, each by its number.

/// The storage of a deadline: for its number, and for a place in the heap, which are independent.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The deadline of this number.
    deadline: u64,
    /// The place in the heap of this number, plus one; zero if it is not there.
    position: u32,
    /// The number at this place in the heap.
    number: u32,
}

impl Place {
    /// Without a deadline. Zeros take no space in the image file.
    pub const FREE: Self = Self {
        deadline: 0,
        position: 0,
        number: 0,
    };
}

/// Pending deadlines with numbers below a limit, the earliest first, in places of their own or others'.
#[derive(Debug)]
pub struct Deadlines<P = &'static mut [Place]> {
    places: P,
    length: usize,
}

impl<const N: usize> Deadlines<[Place; N]> {
    /// Without a deadline, for numbers below `N`.
    #[must_use]
    pub const fn own() -> Self {
        let places = [Place::FREE; N];
        Self { places, length: 0 }
    }
}

impl Deadlines {
    /// Without a deadline, for as many numbers as there are places.
    pub fn new(places: &'static mut [Place]) -> Self {
        places.fill(Place::FREE);
        Self { places, length: 0 }
    }
}

impl<P: AsRef<[Place]> + AsMut<[Place]>> Deadlines<P> {
    /// The earliest deadline.
    #[must_use]
    pub fn earliest(&self) -> Option<u64> {
        (self.length > 0).then(|| self.deadline_at(0))
    }

    /// The deadline of a number, if it is pending.
    #[must_use]
    pub fn get(&self, number: usize) -> Option<u64> {
        let place = self.places.as_ref().get(number)?;
        (place.position != 0).then_some(place.deadline)
    }

    /// Sets the deadline of a number. Returns whether it is the earliest one now.
    pub fn start(&mut self, number: usize, deadline: u64) -> bool {
        let length = self.length;
        let Some(place) = self.places.as_mut().get_mut(number) else {
            return false;
        };
        place.deadline = deadline;
        let at = if place.position == 0 {
            self.put(length, number);
            self.length += 1;
            length
        } else {
            place.position as usize - 1
        };
        let at = self.sift_up(at);
        self.sift_down(at);
        self.number_at(0) == number
    }

    /// Removes the deadline of a number. Returns whether it was pending.
    pub fn cancel(&mut self, number: usize) -> bool {
        let position = match self.places.as_ref().get(number) {
            Some(place) if place.position != 0 => place.position as usize - 1,
            _ => return false,
        };
        self.remove(position);
        true
    }

    /// Removes the earliest deadline, if it is not after `now`; returns its number.
    pub fn expire(&mut self, now: u64) -> Option<usize> {
        if self.earliest()? > now {
            return None;
        }
        let number = self.number_at(0);
        self.remove(0);
        Some(number)
    }

    fn remove(&mut self, position: usize) {
        let (number, last) = (self.number_at(position), self.length - 1);
        let moved = self.number_at(last);
        self.length = last;
        self.places.as_mut()[number].position = 0;
        if position != last {
            self.put(position, moved);
            let at = self.sift_up(position);
            self.sift_down(at);
        }
    }

    fn number_at(&self, position: usize) -> usize {
        self.places.as_ref()[position].number as usize
    }

    fn deadline_at(&self, position: usize) -> u64 {
        self.places.as_ref()[self.number_at(position)].deadline
    }

    fn put(&mut self, position: usize, number: usize) {
        let places = self.places.as_mut();
        places[position].number = number as u32;
        places[number].position = position as u32 + 1;
    }

    fn swap(&mut self, one: usize, other: usize) {
        let (first, second) = (self.number_at(one), self.number_at(other));
        self.put(one, second);
        self.put(other, first);
    }

    fn sift_up(&mut self, mut at: usize) -> usize {
        while at > 0 {
            let above = (at - 1) / 2;
            if self.deadline_at(above) <= self.deadline_at(at) {
                break;
            }
            self.swap(above, at);
            at = above;
        }
        at
    }

    fn sift_down(&mut self, mut at: usize) {
        loop {
            let below = 2 * at + 1;
            if below >= self.length {
                return;
            }
            let other = below + 1;
            let least = if other < self.length && self.deadline_at(other) < self.deadline_at(below)
            {
                other
            } else {
                below
            };
            if self.deadline_at(at) <= self.deadline_at(least) {
                return;
            }
            self.swap(at, least);
            at = least;
        }
    }
}
