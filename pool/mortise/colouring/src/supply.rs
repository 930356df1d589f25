//! Page frames of one VM's colours.

use core::sync::atomic::{AtomicU64, Ordering};
use core_colouring::{PAGE, colour};
use core_memory::{Frame, PhysicalRange};
use core_paging::Frames;

/// Pages of given colours, allocated in order and never freed.
pub(crate) struct Supply {
    /// Address of the first page that was not considered yet.
    next: AtomicU64,
    end: u64,
    /// Number of colours of the cache.
    of: u32,
    /// Colours of the pages, one bit each.
    colours: u64,
    /// The status page, which is not used for tables.
    status: u64,
}

impl Supply {
    /// Pages of `range` that have one of `colours`, of `of` colours, except `status`.
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

    /// Allocates the next page.
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
        // SAFETY: the early table maps all RAM, in which tables are made. The page is allocated
        // once; the library has checked that no guest maps it and that it is not part of Mortise. A
        // frame is plain bytes, valid with any contents.
        unsafe {
            hw_arch::cache::zero_to_poc(page, PAGE as usize);
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
    fn pages_have_its_colours_and_are_allocated_once() {
        let range = PhysicalRange::new(0x8000, 0x8000).unwrap();
        let supply: &'static Supply = Box::leak(Box::new(Supply::new(range, 4, 0b0101, 0x8000)));
        assert_eq!(supply.available(), 3, "one is the status page");
        let pages: Vec<_> = core::iter::from_fn(|| supply.advance()).collect();
        assert_eq!(pages, [0xa000, 0xc000, 0xe000]);
        assert_eq!((supply.available(), supply.advance()), (0, None));
    }
}
