//! GIC distributor and redistributor frames, as guests access them.
//!
//! The frames are absent from every VM's stage 2, so each access arrives as a data abort.
//!
//! * [`Register::decode`] turns (frame, offset, width) into a register and the interrupts it covers,
//!   or [`Register::Reserved`], which reads as zero and ignores writes. No other code uses a raw
//!   offset. The emulated distributor (`mortise_vgic`) and the mediated ones share this map.
//! * [`OwnedInterrupts`] holds the interrupts and physical CPUs of a VM with direct interrupts
//!   (`HCR_EL2.IMO = 0`). Such a VM acknowledges and ends Group 1 interrupts on the physical CPU
//!   interface without an exit. [`OwnedInterrupts::decide`] determines what its access to a frame may
//!   do to the physical register: other VMs' interrupts and the enable bit of the hypervisor's doorbell
//!   lie in the same frames. A write to `ICC_SGI1R_EL1` traps too, because it could interrupt any CPU
//!   ([`OwnedInterrupts::sgis`]).
//!
//! # Guarantees
//!
//! Pure, total and constant-time: every offset of every width decodes, nothing panics, nothing is
//! allocated. A VM with direct interrupts reaches only
//!
//! * the interrupts it owns: SGIs except the doorbell's, and the PPIs and SPIs assigned to it;
//! * on its own CPUs: vCPU `i`, of affinity 0.0.0.i, is physical CPU `i` of its list;
//! * their enable, pending, active, priority, trigger and route; priorities no more urgent than
//!   [`HIGHEST_GUEST_PRIORITY`], so that the doorbell preempts;
//! * never their group, GICD_CTLR, power management or LPI tables (read by DMA).
//!
//! All other fields read as zero, or as on a GICv3 with one security state and no LPIs, and ignore
//! writes.
//!
//! # Examples
//!
//! ```
//! use mortise_gicd::{BitBank, Frame, Register, Width};
//! // GICD_ISENABLER1 covers interrupts 32 to 63.
//! let register = Register::decode(Frame::Distributor, 0x104, Width::Word);
//! assert_eq!(register, Register::Bank { bank: BitBank::SetEnable, first: 32 });
//! // With affinity routing, the private interrupts are not in the distributor.
//! assert_eq!(Register::decode(Frame::Distributor, 0x100, Width::Word), Register::Reserved);
//! ```
//!
//! ```
//! use mortise_gicd::*;
//! // vCPU 0 runs on physical CPU 3, which has the affinity 0.0.0.3.
//! let mut gic: OwnedInterrupts<1, 8> = OwnedInterrupts::new(0); // SGI 0 is the doorbell
//! gic.set_cpus(&[Cpu { number: 3, affinity: 3 }])?;
//! gic.add(27)?; // the virtual timer
//! // GICR_ISENABLER0: the timer and the doorbell.
//! let access = Access {
//!     frame: Frame::Sgi(0),
//!     offset: 0x100,
//!     width: Width::Word,
//!     operation: Operation::Write(1 << 27 | 1 << 0),
//! };
//! let at = PhysicalRegister { frame: PhysicalFrame::Sgi(3), offset: 0x100, width: Width::Word };
//! assert_eq!(gic.decide(access), Decision::Write { at, value: 1 << 27 });
//! # Ok::<(), Error>(())
//! ```
//!
//! References are to the GIC architecture specification, Arm IHI 0069.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod access;
mod decision;
mod enable_register;
mod identification;
mod ownership;
mod register;
mod sgi;
#[cfg(test)]
mod tests;

pub use access::{Access, FRAME_SIZE, Frame, Operation, Width};
pub use decision::{Decision, PhysicalFrame, PhysicalRegister};
pub use enable_register::EnableRegister;
pub use identification::{IMPLEMENTER, PIDR2_GICV3, control, distributor_type, redistributor_type};
pub use ownership::{Cpu, Error, OwnedInterrupts};
pub use register::{BitBank, Half, Register};
pub use sgi::SgiRequest;

/// Interrupts 0 to 31 are private to a vCPU: SGIs 0 to 15 and PPIs 16 to 31 (section 2.2).
pub const PRIVATE: u32 = 32;

/// The highest (numerically lowest) priority of a VM's interrupt. The doorbell has priority 0.
pub const HIGHEST_GUEST_PRIORITY: u8 = 0x80;

/// The set bits of a word, lowest first.
#[inline]
pub fn bits(mut word: u32) -> impl Iterator<Item = u32> {
    core::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (bit < 32).then_some(bit)
    })
}
