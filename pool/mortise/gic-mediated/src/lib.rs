//! Mediated access to the physical GICv3 for VMs that own their interrupts.
//!
//! A VM in direct mode (`HCR_EL2.IMO = 0`) takes and ends Group 1 interrupts on the physical CPU
//! interface, with no exit. The distributor and redistributor frames stay absent from its stage 2,
//! because there lie what other VMs own and the enable bit of the hypervisor's doorbell; and a
//! write to `ICC_SGI1R_EL1` traps, because it could interrupt any CPU. [`Mediated`] decides what
//! such an access may do: setting up traps, running does not.
//!
//! # Guarantees
//!
//! Pure, total and constant-time. A VM reaches only
//!
//! * the interrupts it owns: SGIs but the doorbell's, the PPIs and SPIs given to it;
//! * on its own CPUs: vCPU `i`, of affinity 0.0.0.i, is physical CPU `i` of its list;
//! * their enable, pending, active, priority, trigger and route; priorities no more urgent than
//!   [`MOST_URGENT`], so that the doorbell preempts;
//! * never their group, GICD_CTLR, power management or LPI tables (these are DMA).
//!
//! All else reads as zero, or as a GICv3 with one security state and no LPIs would read, and
//! ignores writes.
//!
//! # Example
//!
//! ```
//! use mortise_gic_mediated::*;
//! // vCPU 0 runs on physical CPU 3, which has the affinity 0.0.0.3.
//! let mut gic: Mediated<1, 8> = Mediated::new(0); // SGI 0 is the doorbell
//! gic.set_cpus(&[Cpu { number: 3, affinity: 3 }])?;
//! gic.add(27)?; // the virtual timer
//! // GICR_ISENABLER0: the timer and the doorbell.
//! let access = Access {
//!     frame: Frame::Sgi(0),
//!     offset: 0x100,
//!     width: Width::Word,
//!     operation: Operation::Write(1 << 27 | 1 << 0),
//! };
//! let place = Place { frame: PhysicalFrame::Sgi(3), offset: 0x100, width: Width::Word };
//! assert_eq!(gic.decide(access), Decision::Write { place, value: 1 << 27 });
//! # Ok::<(), Error>(())
//! ```
//!
//! References are to the GIC architecture specification, Arm IHI 0069.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod decide;
mod decision;
mod mediated;
mod short;
#[cfg(test)]
mod tests;

pub use decision::{Decision, PhysicalFrame, Place};
pub use mediated::{Cpu, Error, Mediated};
pub use mortise_gic_frame::{Access, Frame, Operation, SgiRequest, Width};

/// The most urgent priority a VM's interrupt may have. The doorbell's is 0.
pub const MOST_URGENT: u8 = 0x80;
