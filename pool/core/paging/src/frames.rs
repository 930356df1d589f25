//! Supply of frames for tables.

use aarch64_paging::{
    descriptor::{PagingAttributes, PhysicalAddress},
    paging::{PageTable, Translation},
};
use core::ptr::NonNull;

/// A frame of memory, the size of a table.
#[repr(C, align(4096))]
#[derive(Debug)]
pub struct Frame([u8; 4096]);

impl Frame {
    /// A frame of zeroes.
    pub const ZERO: Self = Self([0; 4096]);
}

/// A supply of zeroed frames that are mapped one to one.
pub trait Frames: Sync {
    /// Takes a zeroed frame that nobody else uses, if one is left.
    fn take(&self) -> Option<NonNull<Frame>>;

    /// Takes back a frame that [`Frames::take`] gave out and nobody uses any more.
    fn give_back(&self, frame: NonNull<Frame>);
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
        (frame.cast(), PhysicalAddress(frame.as_ptr() as usize))
    }

    unsafe fn deallocate_table(&mut self, page_table: NonNull<PageTable<A>>) {
        self.0.give_back(page_table.cast());
    }

    fn physical_to_virtual(&self, pa: PhysicalAddress) -> NonNull<PageTable<A>> {
        NonNull::new(pa.0 as *mut PageTable<A>).expect("no table lies at address zero")
    }
}
