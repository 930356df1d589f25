//! Memory functions that the compiler calls: `memcpy`, `memmove`, `memset`, `memcmp` and `bcmp`.
//!
//! # Purpose
//!
//! Mortise runs with interrupts masked, so that each copy of a value adds to interrupt latency. The
//! toolchain's functions are made for cores without unaligned access: they take 43 instructions for 40
//! bytes, and 196 to compare two names. These take 18 and 33. System calls of processes copy bytes at
//! any alignment: a page takes 650 instructions, by the toolchain up to 20,000.
//!
//! It is a crate of its own, as to link it is the choice: its symbols replace those of the toolchain in
//! each image that names it. Images of Tenon without processes keep those.
//!
//! # Guarantees
//!
//! Steps of 64 bytes, or of 16 where bytes are compared or moved upwards, then each half of that: 13
//! instructions for 64 bytes, at most 30 for fewer. The functions use general registers only and no
//! stack, so that a guest's floating-point registers are kept. They need normal memory and
//! `SCTLR_ELx.A` = 0, as `hw_arch::mmu` sets it, so that any alignment is allowed (Arm ARM, B2.5.2).
//!
//! # Example
//!
//! Naming the crate links it; its definitions precede the toolchain's.
//!
//! ```
//! use core_memcpy as _;
//! ```
#![no_std]
#![cfg_attr(
    target_os = "none",
    expect(unsafe_code, reason = "the functions are assembly")
)]

#[cfg(target_os = "none")]
core::arch::global_asm!(include_str!("memcpy.s"));
