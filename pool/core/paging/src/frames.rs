//! Supply of frames for tables.

use aarch64_paging::{
    descriptor::{PagingAttributes, PhysicalAddress},
    paging::{PageTable, Translation},
};
use core::ptr::NonNull;
use core_memory::{Frame, FramePool};

/// A supply of zeroed frames that are mapped one to one.
pub trait Frames: Sync {
    /// Takes a zeroed frame that nobody else uses, if one is left.
    #[expect(
        clippy::mut_from_ref,
        reason = "each frame is given to one taker at a time"
    )]
    fn take(&'static self) -> Option<&'static mut Frame>;

    /// Number of frames that are left.
    fn available(&'static self) -> usize;

    /// Takes back a frame that [`Frames::take`] gave out.
    fn give_back(&'static self, frame: &'static mut Frame);
}

impl<const N: usize> Frames for FramePool<N> {
    fn take(&'static self) -> Option<&'static mut Frame> {
        self.allocate()
    }

    fn available(&'static self) -> usize {
        FramePool::available(self)
    }

    fn give_back(&'static self, frame: &'static mut Frame) {
        let ours = self.free(frame);
        debug_assert!(ours, "a table goes back to the pool it came from");
    }
}

/// The supply as the page-table library wants it.
#[derive(Clone, Copy)]
pub(crate) struct Supply(pub &'static dyn Frames);

impl<A: PagingAttributes> Translation<A> for Supply {
    fn allocate_table(&mut self) -> (NonNull<PageTable<A>>, PhysicalAddress) {
        // Tables are made from the system description only, never at a guest's
        // wish: running out is a mistake in the configuration, found at boot.
        let frame = self
            .0
            .take()
            .expect("out of page tables: raise MORTISE_PAGE_TABLES");
        let table = NonNull::from(frame).cast::<PageTable<A>>();
        (table, PhysicalAddress(table.as_ptr() as usize))
    }

    unsafe fn deallocate_table(&mut self, page_table: NonNull<PageTable<A>>) {
        // SAFETY: `allocate_table` made the pointer from such a reference, and
        // the library has no use for it any more.
        self.0
            .give_back(unsafe { page_table.cast::<Frame>().as_mut() });
    }

    fn physical_to_virtual(&self, pa: PhysicalAddress) -> NonNull<PageTable<A>> {
        NonNull::new(pa.0 as *mut PageTable<A>).expect("no table lies at address zero")
    }
}
