//! Bytes copied, filled and compared: what the compiler calls for values that are large.
//!
//! # Purpose
//!
//! Mortise masks interrupts, so that each value it moves counts for whoever waits. The toolchain's
//! own `memcpy`, `memset` and `memcmp` are made for cores that may not access what is not aligned:
//! they take 43 instructions for 40 bytes, 196 to compare two names. Here they take 18 and 33.
//!
//! # Guarantees
//!
//! In steps of 64 bytes, of 16 where bytes are compared or moved upwards, then of half as many each:
//! 13 instructions for 64 bytes, 30 at most for fewer. General registers only, no stack, so that a
//! guest's floating point is not touched. Memory is normal and `SCTLR_ELx.A` zero, as
//! `hw_arch::mmu` has it, so that any address will do (Arm ARM, B2.5.2).
//!
//! # Example
//!
//! To name the crate is all there is to do: what it defines is found before the toolchain's.
//!
//! ```
//! use mortise_bytes as _;
//! ```
#![no_std]
#![cfg_attr(
    target_os = "none",
    expect(unsafe_code, reason = "these are functions in assembly")
)]

#[cfg(target_os = "none")]
core::arch::global_asm!(include_str!("bytes.s"));
