//! Counters of instructions per vCPU, to which QEMU adds a block's length in generated code.
//!
//! Interface 1 (up to QEMU 8) adds to one address, whichever vCPU executes the block. Interface 2 (QEMU
//! 9.0) replaced that by scoreboards, which have an entry for each vCPU, but QEMU 10.0 adds to that of
//! the vCPU which translated the block (see `vcpu.rs`). So both serve only machines with one core; on
//! others a callback adds.

#![expect(unsafe_code, reason = "QEMU adds to the counters")]

pub use of_interface::Counters;

/// Counters at fixed addresses.
#[cfg(not(scoreboards))]
mod of_interface {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use crate::ffi;
    use crate::state::VCPUS;

    /// The counters.
    pub struct Counters([AtomicU64; VCPUS]);

    impl Counters {
        /// The counters; never `None`, which is for scoreboards.
        pub fn new() -> Option<Self> {
            Some(Self([const { AtomicU64::new(0) }; VCPUS]))
        }

        /// The instructions of a vCPU.
        pub fn of(&self, vcpu: usize) -> u64 {
            self.0[vcpu].load(Relaxed)
        }

        /// The instructions of all vCPUs.
        pub fn sum(&self) -> u64 {
            self.0.iter().map(|word| word.load(Relaxed)).sum()
        }

        /// Adds instructions that a vCPU executes.
        pub fn add(&self, vcpu: usize, instructions: u64) {
            self.0[vcpu].fetch_add(instructions, Relaxed);
        }

        /// Has QEMU add to the single core's counter at each execution of a block; during the block's
        /// translation.
        pub fn count(&'static self, block: *mut ffi::Block, instructions: usize) {
            let (word, operand) = (self.0[0].as_ptr().cast(), instructions as u64);
            // SAFETY: the block is valid during translation; the counter is static, and only the
            // machine's single core adds to it.
            unsafe {
                ffi::qemu_plugin_register_vcpu_tb_exec_inline(block, ffi::ADD, word, operand);
            }
        }
    }
}

/// Counters in a scoreboard of QEMU.
#[cfg(scoreboards)]
mod of_interface {
    use core::ffi::c_uint;

    use crate::ffi;

    /// The counters.
    pub struct Counters(ffi::Entry);

    impl Counters {
        /// The counters; `None` if QEMU has none to give.
        pub fn new() -> Option<Self> {
            // SAFETY: the call has no precondition; a scoreboard that is never freed stays valid.
            let score = unsafe { ffi::qemu_plugin_scoreboard_new(size_of::<u64>()) }?;
            Some(Self(ffi::Entry { score, offset: 0 }))
        }

        /// The instructions of a vCPU.
        pub fn of(&self, vcpu: usize) -> u64 {
            // SAFETY: the entry is a word of a scoreboard; vCPUs in callbacks are QEMU's own.
            unsafe { ffi::qemu_plugin_u64_get(self.0, vcpu as c_uint) }
        }

        /// The instructions of all vCPUs.
        pub fn sum(&self) -> u64 {
            // SAFETY: the entry is a word of a scoreboard.
            unsafe { ffi::qemu_plugin_u64_sum(self.0) }
        }

        /// Adds instructions that a vCPU executes.
        pub fn add(&self, vcpu: usize, instructions: u64) {
            // SAFETY: as in `of`; only the vCPU's own callbacks add to its word.
            unsafe { ffi::qemu_plugin_u64_add(self.0, vcpu as c_uint, instructions) }
        }

        /// Has QEMU add to the single core's counter at each execution of a block; during the block's
        /// translation.
        pub fn count(&'static self, block: *mut ffi::Block, instructions: usize) {
            let (add, operand) = (ffi::ADD, instructions as u64);
            // SAFETY: the block is valid during translation, and the scoreboard is never freed.
            unsafe {
                ffi::qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(block, add, self.0, operand);
            }
        }
    }
}
