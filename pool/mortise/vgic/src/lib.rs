//! Virtual GICv3 for VMs that share their CPUs' interrupts with the hypervisor.
//!
//! Physical interrupts are taken to EL2 (`HCR_EL2.IMO = FMO = 1`) and reach the guest through list
//! registers. The guest uses the virtual CPU interface without exits. Its distributor and redistributor
//! frames are absent from stage 2 and emulated by [`VirtualGic::access`].
//!
//! An interrupt of a VM is either *virtual* (SGIs, emulated devices: [`VirtualGic::set_line`]) or
//! *backed by hardware* (the virtual timer, devices passed through: [`VirtualGic::inject_hardware`]).
//! The guest's end of interrupt deactivates the latter in the physical GIC without an exit.
//!
//! # Usage
//!
//! Each VM has one `VirtualGic`, protected by a lock of the VM. Every call names the vCPU of the core it
//! runs on and passes a [`PhysicalGic`]: the list registers of that core, and the physical interrupts.
//! When a call returns, the list registers of that core are up to date; vCPUs on other cores with a
//! change of pending or active interrupts have been [kicked](PhysicalGic::kick) and call
//! [`VirtualGic::refresh_lrs`]. On a shared core a call returns early if the core
//! [should yield](PhysicalGic::should_yield) to a more urgent vCPU: the guest repeats the access, and the
//! update of the list registers is [deferred](PhysicalGic::defer_refresh).
//!
//! | event at EL2 | call |
//! |---|---|
//! | data abort in a GIC frame | [`access`](VirtualGic::access) |
//! | trapped write to `ICC_SGI1R_EL1` | [`send_sgi`](VirtualGic::send_sgi) |
//! | interrupt of this VM acknowledged, priority dropped (EOImode 1) | [`inject_hardware`](VirtualGic::inject_hardware) |
//! | change of an emulated device's line | [`set_line`](VirtualGic::set_line) |
//! | kick, or maintenance interrupt | [`refresh_lrs`](VirtualGic::refresh_lrs) |
//! | `CPU_OFF`; VM restart | [`reset_vcpu`](VirtualGic::reset_vcpu); [`reset`](VirtualGic::reset) |
//!
//! The timer of a pinned vCPU needs neither the lock nor a call: [`PhysicalGic::set_template`] publishes
//! a list register value, which is written to list register 0 while that is free. List register 0 is
//! reserved for this; the next call accounts for what was written there.
//!
//! # Guarantees
//!
//! * vCPU `i` has the affinity 0.0.0.i: the caller sets `VMPIDR_EL2` so.
//! * No interrupt is lost, none is delivered twice. An interrupt without a list register stays pending
//!   in memory, and a maintenance interrupt is requested; the most urgent pending interrupt is always in
//!   a list register.
//! * The guest controls only interrupts that are assigned to its VM. The registers of all other
//!   interrupts, and of vCPUs beyond their number, read as zero and ignore writes.
//! * Nothing panics, nothing is allocated. Loops are over set bits; a write of zero has no loop.
//!
//! The pending and active state of an interrupt in the list registers of *another* core reads as of the
//! last exit of that core, and clearing it there has no effect. Only debuggers and power management
//! depend on this in the architecture.
//!
//! # Example
//!
//! ```
//! use mortise_vgic::VirtualGic;
//! // Up to 4 vCPUs; SPIs 32 to 287.
//! let mut vgic: VirtualGic<4, 8> = VirtualGic::new();
//! vgic.set_vcpus(3)?;
//! vgic.add_hardware(27)?; // the virtual timer, on every vCPU
//! vgic.add_virtual(33)?; // an emulated serial port
//! # Ok::<(), mortise_vgic::Error>(())
//! ```
//!
//! References are to the GIC architecture specification, Arm IHI 0069.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod bank;
mod list_register;
mod physical;
mod select;
#[cfg(test)]
mod tests;
mod virtual_gic;

pub use list_register::{ListRegister, State};
pub use mortise_gicd::{Access, Error, Frame, Operation, SgiRequest, Width};
pub use physical::{Maintenance, PhysicalGic};
pub use virtual_gic::{View, VirtualGic};
