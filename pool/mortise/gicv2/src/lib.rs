//! GICv2 interrupt controller for partitions with VMs that own their interrupts.
//!
//! The CPU interface of a GICv2 is a page of registers, which is mapped into the VM on its dedicated
//! cores: it acknowledges and ends its interrupts without an exit. Accesses to the distributor are
//! mediated ([`decide`]).
//!
//! A guest can mask everything that is signalled at its CPU interface, so no interrupt of Mortise's
//! is sure to reach a core that runs a guest. Such a core returns to Mortise because its stage 2 is
//! withdrawn. On a core that is idle in Mortise the interface is Mortise's, which waits for an SGI of
//! its own, the *doorbell*:
//!
//! | core | CPU interface | what returns control to Mortise |
//! |---|---|---|
//! | idle in Mortise | passes priorities above 0x10 | the doorbell |
//! | runs a guest | the guest's | withdrawal of stage 2: the guest's next access of any kind |
//! | sleeps in a guest's WFI | the guest's | the doorbell wakes it, unless the guest masks everything; then withdrawal |
//! | sleeps in a trapped WFI | opened during the wait, then restored | the doorbell |
//!
//! The doorbell is in the group of all other interrupts: one that arrives late, as its core enters a
//! guest, is an SGI that the guest does not use.
//!
//! # Guarantees
//!
//! Every call takes a few accesses, except [`Irqchip::init`](mortise_partition::Irqchip::init), which
//! is linear in the number of interrupts. A VM reaches only
//!
//! * the interrupts it owns: SGIs except the doorbell's, and the PPIs and SPIs assigned to it;
//! * its own CPUs as targets of its SPIs and receivers of its SGIs: vCPU `i` is CPU interface `i` to it;
//! * their enable, pending, active, priority and trigger; priorities no more urgent than
//!   [`HIGHEST_GUEST_PRIORITY`](mortise_gicd::HIGHEST_GUEST_PRIORITY), so that the doorbell is signalled
//!   on a core that waits in Mortise;
//! * never their group, nor the enable bit of the distributor.
//!
//! All other fields read as zero and ignore writes, among them the source bits of pending SGIs.
//!
//! # Example
//!
//! ```
//! use mortise_gicd::{Cpu, Decision as Common, Operation, OwnedInterrupts, Width};
//! use mortise_gicv2::{Decision, decide};
//! // vCPU 0 runs on physical CPU 3; SGI 15 is the doorbell.
//! let mut gic: OwnedInterrupts<1, 8> = OwnedInterrupts::new(15);
//! gic.set_cpus(&[Cpu { number: 3, affinity: 3 }])?;
//! // SGI 2 to CPUs 0 and 1, of which the VM has the first.
//! let sgi = Operation::Write(0b11 << 16 | 2);
//! let Decision::Common(Common::Write { value, .. }) = decide(&gic, 0, 0xf00, Width::Word, sgi) else {
//!     panic!("it is sent")
//! };
//! assert_eq!(value, 0b1000 << 16 | 2);
//! # Ok::<(), mortise_gicd::Error>(())
//! ```
//!
//! References are to the GICv2 architecture specification, Arm IHI 0048.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod irqchip;
mod mediate;
#[cfg(test)]
mod tests;

pub use irqchip::{GICV2, Gicv2};
pub use mediate::{Decision, decide, targets};
