//! Memory of a VM for a virtual device: checked, translated and reached through one window.
//!
//! # Purpose
//!
//! A virtual device reads and writes queues and buffers at addresses that a driver chose.
//! [`GuestMemory`] is the memory of one VM, through one [`Window`] of the executing core. The window
//! stays open between accesses: an address in the piece of memory that it shows is checked and
//! translated by one comparison.
//!
//! # Guarantees
//!
//! - Only RAM of the VM is accessed: not shared areas, devices, or memory of Mortise. Each range must
//!   lie in one mapping of it.
//! - An aligned word is accessed once, by one instruction. What is copied while a guest writes it is any
//!   mixture.
//! - The window is closed on drop. A copy of many bytes asks after each [`PIECE`] whether to stop. No
//!   allocation, no lock, no panic.
//!
//! # Example
//!
//! ```
//! # use core_manifest::Vm;
//! # use core_paging::Window;
//! # use core_virtq::{Memory, Outside};
//! # use hw_arch::El2;
//! use mortise_guest_memory::GuestMemory;
//!
//! fn first_word(window: &Window<El2>, vm: &Vm, at: u64) -> Result<u16, Outside> {
//!     // SAFETY: the window is this core's, and nothing else uses it meanwhile.
//!     let memory = unsafe { GuestMemory::new(window, vm) };
//!     memory.read16(at)
//! }
//! ```
#![no_std]
#![expect(
    unsafe_code,
    reason = "memory of VMs is accessed at addresses that are checked here"
)]

use core::{cell::Cell, marker::PhantomData, ptr::copy_nonoverlapping};
use core_manifest::{Mapping, Vm};
use core_memory::IntermediateRange;
use core_paging::{WINDOW_SIZE, Window};
use core_virtq::{Memory, Outside};
use hw_arch::El2;

/// Most bytes that are copied without a question: 13 instructions for 64.
pub const PIECE: u64 = 512;

/// Memory of a VM.
pub struct GuestMemory<'a> {
    window: &'a Window<El2>,
    vm: &'a Vm,
    /// What the window shows of the memory: the IPA of its first byte, its size (0 while the window is
    /// closed), and the virtual address of its first byte.
    start: Cell<u64>,
    size: Cell<u64>,
    base: Cell<usize>,
}

/// The first part of a range, as far as a window shows it. The window shows it as long as this exists.
pub struct Piece<'a> {
    address: usize,
    size: u64,
    window: PhantomData<&'a mut ()>,
}

impl<'a> GuestMemory<'a> {
    /// The memory of a VM through a window, which is opened by the first access.
    ///
    /// # Safety
    ///
    /// The window is of the executing core, and nothing else uses it until the result is dropped. No
    /// Rust reference to memory of the VM exists meanwhile.
    #[must_use]
    #[inline]
    pub const unsafe fn new(window: &'a Window<El2>, vm: &'a Vm) -> Self {
        Self {
            window,
            vm,
            start: Cell::new(0),
            size: Cell::new(0),
            base: Cell::new(0),
        }
    }

    /// The VM.
    #[must_use]
    pub const fn vm(&self) -> &'a Vm {
        self.vm
    }

    /// Closes the window until the next access.
    #[inline]
    pub fn close(&self) {
        if self.size.get() != 0 {
            self.size.set(0);
            self.window.close();
        }
    }

    /// The first part of a range.
    ///
    /// # Errors
    ///
    /// If part of the range is not memory of the VM.
    #[inline(always)]
    pub fn piece(&mut self, at: u64, size: u64) -> Result<Piece<'_>, Outside> {
        let (address, size) = self.locate(at, size)?;
        Ok(Piece {
            address,
            size,
            window: PhantomData,
        })
    }

    /// Virtual address of a range, and how many bytes of it the window shows.
    #[inline(always)]
    fn locate(&self, at: u64, size: u64) -> Result<(usize, u64), Outside> {
        let (offset, shown) = (at.wrapping_sub(self.start.get()), self.size.get());
        if offset < shown && size <= shown - offset {
            return Ok((self.base.get() + offset as usize, size));
        }
        self.locate_anew(at, size)
    }

    #[cold]
    #[inline(never)]
    fn locate_anew(&self, at: u64, size: u64) -> Result<(usize, u64), Outside> {
        let range = IntermediateRange::new(at, size).ok_or(Outside)?;
        let mut memory = self.vm.memory();
        if !memory.any(|ram| ram.intermediate.contains(&range)) || !self.show(at) {
            return Err(Outside);
        }
        let offset = at - self.start.get();
        let room = size.min(self.size.get() - offset);
        Ok((self.base.get() + offset as usize, room))
    }

    /// Virtual address of an aligned word. It lies in the page of its first byte.
    #[inline(always)]
    fn word(&self, at: u64) -> Result<usize, Outside> {
        if at.wrapping_sub(self.start.get()) >= self.size.get() && !self.show(at) {
            return Err(Outside);
        }
        Ok(self.base.get() + (at - self.start.get()) as usize)
    }

    /// Opens the window for an address. Returns false if it is not memory of the VM.
    #[cold]
    #[inline(never)]
    fn show(&self, at: u64) -> bool {
        let mut memory = self.vm.memory();
        let Some(ram) = memory.find(|ram| ram.intermediate.holds(at)) else {
            return false;
        };
        let shown = shown(ram, at);
        self.start.set(shown.start);
        self.size.set(shown.size);
        self.base
            .set(self.window.open(shown.block as usize) + shown.offset);
        true
    }

    #[cold]
    fn read_parts(&self, at: u64, bytes: &mut [u8]) -> Result<(), Outside> {
        let (mut at, mut left) = (at, bytes);
        while !left.is_empty() {
            let (from, room) = self.locate(at, left.len() as u64)?;
            let (part, rest) = left.split_at_mut_checked(room as usize).ok_or(Outside)?;
            // SAFETY: the window shows this part, which is RAM of the VM.
            unsafe { copy_nonoverlapping(from as *const u8, part.as_mut_ptr(), part.len()) };
            (at, left) = (at + room, rest);
        }
        Ok(())
    }

    #[cold]
    fn write_parts(&self, at: u64, bytes: &[u8]) -> Result<(), Outside> {
        let (mut at, mut left) = (at, bytes);
        while !left.is_empty() {
            let (to, room) = self.locate(at, left.len() as u64)?;
            let (part, rest) = left.split_at_checked(room as usize).ok_or(Outside)?;
            // SAFETY: the window shows this part, which is RAM of the VM without Rust references.
            unsafe { copy_nonoverlapping(part.as_ptr(), to as *mut u8, part.len()) };
            (at, left) = (at + room, rest);
        }
        Ok(())
    }
}

impl Drop for GuestMemory<'_> {
    #[inline]
    fn drop(&mut self) {
        self.close();
    }
}

impl Piece<'_> {
    /// Copies this piece to another one as far as both reach, or until `is_stopped` after a [`PIECE`].
    /// Returns the number of bytes.
    #[inline(always)]
    pub fn copy_to(&self, target: &Piece<'_>, is_stopped: impl Fn() -> bool) -> u64 {
        let size = self.size.min(target.size);
        let mut done = 0;
        loop {
            let step = PIECE.min(size - done);
            let from = (self.address + done as usize) as *const u8;
            let to = (target.address + done as usize) as *mut u8;
            // SAFETY: both pieces are shown, by different windows, and are RAM without Rust references.
            // Bytes are valid whatever a guest writes.
            unsafe { copy_nonoverlapping(from, to, step as usize) };
            done += step;
            if done >= size || is_stopped() {
                return done;
            }
        }
    }
}

impl Memory for GuestMemory<'_> {
    #[inline(always)]
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Outside> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (from, room) = self.locate(at, bytes.len() as u64)?;
        if room < bytes.len() as u64 {
            return self.read_parts(at, bytes);
        }
        // SAFETY: the window shows the range, which is RAM of the VM.
        unsafe { copy_nonoverlapping(from as *const u8, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    #[inline(always)]
    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Outside> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (to, room) = self.locate(at, bytes.len() as u64)?;
        if room < bytes.len() as u64 {
            return self.write_parts(at, bytes);
        }
        // SAFETY: the window shows the range, which is RAM of the VM without Rust references.
        unsafe { copy_nonoverlapping(bytes.as_ptr(), to as *mut u8, bytes.len()) };
        Ok(())
    }

    // Accesses to words are volatile, as a guest may change them; any value is a valid integer.

    #[inline(always)]
    fn write8(&mut self, at: u64, value: u8) -> Result<(), Outside> {
        let to = self.word(at)? as *mut u8;
        // SAFETY: the window shows the byte, which is RAM of the VM without Rust references.
        unsafe { to.write_volatile(value) };
        Ok(())
    }

    #[inline(always)]
    fn read16(&self, at: u64) -> Result<u16, Outside> {
        let from = self.word(at)? as *const u16;
        // SAFETY: the window shows the aligned word, which is RAM of the VM.
        Ok(unsafe { from.read_volatile() })
    }

    #[inline(always)]
    fn read64s(&self, at: u64) -> Result<[u64; 2], Outside> {
        let from = self.word(at)? as *const u64;
        // SAFETY: the window shows both aligned words, which are RAM of the VM.
        Ok(unsafe { [from.read_volatile(), from.add(1).read_volatile()] })
    }

    #[inline(always)]
    fn write16(&mut self, at: u64, value: u16) -> Result<(), Outside> {
        let to = self.word(at)? as *mut u16;
        // SAFETY: the window shows the aligned word, which is RAM of the VM without Rust references.
        unsafe { to.write_volatile(value) };
        Ok(())
    }

    #[inline(always)]
    fn write32s(&mut self, at: u64, [first, second]: [u32; 2]) -> Result<(), Outside> {
        let to = self.word(at)? as *mut u32;
        // SAFETY: the window shows both aligned words, which are RAM of the VM without Rust references.
        unsafe {
            to.write_volatile(first);
            to.add(1).write_volatile(second);
        }
        Ok(())
    }
}

/// What a window shows of a mapping.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    /// IPA of the first byte.
    start: u64,
    size: u64,
    /// Physical address of the block behind the window.
    block: u64,
    /// Offset of the first byte in that block.
    offset: usize,
}

/// What a window shows of a mapping if it is opened at an IPA of it.
fn shown(ram: &Mapping, at: u64) -> Shown {
    const SIZE: u64 = WINDOW_SIZE as u64;
    let place = ram.physical.start() + (at - ram.intermediate.start());
    let block = place / SIZE * SIZE;
    let first = block.max(ram.physical.start());
    let end = ram.physical.end().min(block.saturating_add(SIZE));
    Shown {
        start: ram.intermediate.start() + (first - ram.physical.start()),
        size: end - first,
        block,
        offset: (first - block) as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core_manifest::MappingKind;
    use core_memory::PhysicalRange;

    #[test]
    fn a_window_shows_what_one_block_has_of_a_mapping() {
        let ram = Mapping {
            intermediate: IntermediateRange::new(0x4000_0000, 0x50_0000).unwrap(),
            physical: PhysicalRange::new(0x6010_0000, 0x50_0000).unwrap(),
            kind: MappingKind::Ram,
        };
        for (at, start, size, block, offset) in [
            (0x4000_0000, 0x4000_0000, 0x10_0000, 0x6000_0000, 0x10_0000),
            (0x400f_ffff, 0x4000_0000, 0x10_0000, 0x6000_0000, 0x10_0000),
            (0x4010_0000, 0x4010_0000, 0x20_0000, 0x6020_0000, 0),
            (0x404f_ffff, 0x4030_0000, 0x20_0000, 0x6040_0000, 0),
        ] {
            let expected = Shown {
                start,
                size,
                block,
                offset,
            };
            assert_eq!(shown(&ram, at), expected, "{at:#x}");
        }
    }
}
