//! Frames of the colours of one virtual machine.

use core::sync::atomic::{AtomicU64, Ordering};
use core_colouring::{PAGE, colour};
use core_memory::{Frame, PhysicalRange};
use core_paging::Frames;

/// Pages of some colours, given out one after the other and kept for good.
pub(crate) struct Supply {
    /// Where the first page is that was not looked at.
    next: AtomicU64,
    end: u64,
    /// How many colours the cache has.
    of: u32,
    /// Those of the pages, one bit each.
    colours: u64,
    /// A page of these that is not for tables.
    status: u64,
}

impl Supply {
    /// The pages of `range` of these colours, of so many, but for that at `status`.
    pub(crate) const fn new(range: PhysicalRange, of: u32, colours: u64, status: u64) -> Self {
        Self {
            next: AtomicU64::new(range.start()),
            end: range.end(),
            of,
            colours,
            status,
        }
    }

    fn is_own(&self, page: u64) -> bool {
        page != self.status && self.colours & 1 << colour(page, self.of) != 0
    }

    /// The next page, which is nobody else's from here on.
    fn advance(&self) -> Option<u64> {
        loop {
            let page = self.next.fetch_add(PAGE, Ordering::Relaxed);
            if page >= self.end {
                self.next.store(self.end, Ordering::Relaxed);
                return None;
            }
            if self.is_own(page) {
                return Some(page);
            }
        }
    }
}

impl Frames for Supply {
    fn take(&'static self) -> Option<&'static mut Frame> {
        let page = self.advance()? as usize;
        // SAFETY: the early table maps all of RAM, where tables are made. Nobody has the page but
        // its taker: it is given out once, the library has checked that no guest maps it and that
        // it is none of Mortise's, and a frame is bytes alone, whatever they are.
        unsafe {
            hw_arch::cache::zero_to_memory(page, PAGE as usize);
            Some(&mut *(page as *mut Frame))
        }
    }

    fn available(&'static self) -> usize {
        let next = self.next.load(Ordering::Relaxed);
        let pages = (next..self.end).step_by(PAGE as usize);
        pages.filter(|&page| self.is_own(page)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_of_its_colours_and_given_out_once() {
        let range = PhysicalRange::new(0x8000, 0x8000).unwrap();
        let supply: &'static Supply = Box::leak(Box::new(Supply::new(range, 4, 0b0101, 0x8000)));
        assert_eq!(supply.available(), 3, "one is the status page");
        let pages: Vec<_> = core::iter::from_fn(|| supply.advance()).collect();
        assert_eq!(pages, [0xa000, 0xc000, 0xe000]);
        assert_eq!((supply.available(), supply.advance()), (0, None));
    }
}
