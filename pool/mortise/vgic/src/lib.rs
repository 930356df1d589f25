//! Virtual GICv3 for VMs that share their CPUs' interrupts with the hypervisor.
//!
//! Physical interrupts come to EL2 (`HCR_EL2.IMO = FMO = 1`) and reach the guest through list
//! registers. The guest's own CPU interface is virtual and needs no help; its distributor and
//! redistributor frames are absent from stage 2 and answered by [`VirtualGic::access`].
//!
//! An interrupt of a VM is either *virtual* (SGIs, emulated devices: [`VirtualGic::set_line`]) or
//! *backed by hardware* (the virtual timer, devices passed through: [`VirtualGic::inject_hardware`]).
//! The guest's end of interrupt deactivates the latter in the physical GIC without an exit.
//!
//! # How to drive it
//!
//! One `VirtualGic` per VM, behind the VM's lock. Every call names the vCPU on whose core it runs and
//! lends a [`PhysicalGic`]: that core's list registers and the VM's effects on the outside. When a
//! call returns, that core's list registers are right; vCPUs on other cores that have something new
//! to take or to give back were [kicked](PhysicalGic::kick) and call [`VirtualGic::refresh`]. On a core that
//! is shared a call goes back early if somebody more urgent waits: an access is made again, and what
//! list registers are still to be told is [postponed](PhysicalGic::postpone).
//!
//! | event at EL2 | call |
//! |---|---|
//! | data abort in a GIC frame | [`access`](VirtualGic::access) |
//! | trapped write to `ICC_SGI1R_EL1` | [`send_sgi`](VirtualGic::send_sgi) |
//! | interrupt of this VM acknowledged, priority dropped (EOImode 1) | [`inject_hardware`](VirtualGic::inject_hardware) |
//! | the line of an emulated device moved | [`set_line`](VirtualGic::set_line) |
//! | kick, or maintenance interrupt | [`refresh`](VirtualGic::refresh) |
//! | `CPU_OFF`; VM restart | [`reset_vcpu`](VirtualGic::reset_vcpu); [`reset`](VirtualGic::reset) |
//!
//! A pinned vCPU's timer needs neither the lock nor this library: [`PhysicalGic::set_template`] hands
//! out a value; while list register 0 is free, writing it there is all. List register 0 is kept for
//! this; what was put there is found at the next call.
//!
//! # Guarantees
//!
//! * vCPU `i` has the affinity 0.0.0.i: the caller sets `VMPIDR_EL2` so.
//! * No interrupt is lost, none delivered twice. What finds no list register waits, and a
//!   maintenance interrupt is asked for; the most urgent pending one is always in a list register.
//! * The guest moves only interrupts that were given to its VM; for all others, and all vCPUs
//!   beyond its number, registers read as zero and ignore writes.
//! * Nothing panics, nothing is allocated; loops are over set bits, never over a zero write.
//!
//! What a guest reads about pending and active interrupts now in *another* core's list registers
//! is as of that core's last exit, and clearing them there has no effect; the architecture's only
//! users of this are debuggers and power management.
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
mod deliver;
mod events;
mod frames;
mod list_register;
mod physical;
mod refresh;
mod register_fast_path;
mod registers;
mod reset;
mod select;
#[cfg(test)]
mod tests;
mod view;
mod virtual_gic;

pub use list_register::{ListRegister, State};
pub use mortise_gicd::{Access, Frame, Operation, SgiRequest, Width};
pub use physical::{Maintenance, PhysicalGic};
pub use view::View;
pub use virtual_gic::{Error, VirtualGic};
