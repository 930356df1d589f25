//! Page frames of the memory beyond the image, with counts of references.
//!
//! [`Frames`] divides a range of RAM into frames of 4 KiB. A [`Frame`] is one reference to a frame:
//! it is allocated zeroed, [shared](Frames::share) by further references, and free again when the
//! last one is [released](Frames::release). A word for each frame, at the start of the range, has
//! the count of its references, or the next free frame.
//!
//! A [`PageMap`] is a sparse array of frames, and a [`Table`] has numbered objects in frames. An
//! [`Object`] has the pages of a file, or of memory that processes share; pages of the image are
//! frames as well, which are never exclusive.
//!
//! Guarantees: allocating, sharing and releasing take constant time, apart from the zeroing of one
//! frame, and objects lose their pages in steps; none of them locks or masks interrupts, as the caller has exclusive access. A request that
//! cannot be met returns nothing, and changes nothing. A frame that was never allocated is never
//! written.
//!
//! ```
//! use tenon_frames::{Frames, PAGE};
//!
//! # #[repr(align(4096))] struct Ram([u8; 8 * PAGE]);
//! # let ram = Box::leak(Box::new(Ram([0xff; 8 * PAGE]))).0.as_mut_ptr() as usize..;
//! # let ram = ram.start..ram.start + 8 * PAGE;
//! // SAFETY: nothing else uses the range, which is mapped one to one.
//! let mut frames = unsafe { Frames::new(ram) };
//! let frame = frames.allocate().unwrap();
//! frame.write(8, b"abc");
//! let mut read = [0; 4];
//! frame.read(7, &mut read);
//! assert_eq!(&read, b"\0abc");
//! frames.release(frame);
//! assert_eq!(frames.available(), 7);
//! ```

#![cfg_attr(not(test), no_std)]
#![expect(unsafe_code, reason = "frames are reached by their addresses")]

#[cfg(not(target_os = "none"))]
extern crate alloc;

mod allocator;
mod object;
mod page_map;
mod table;

pub use allocator::{Allocator, Copier, Frame, PAGE};
pub use object::{Frames, Object, read_below, read_below_to};
pub use page_map::PageMap;
pub use table::Table;

#[cfg(test)]
mod tests;
