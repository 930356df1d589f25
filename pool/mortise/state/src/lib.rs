//! State of the machine, its cores and its VMs, one structure per subsystem.
//!
//! `mortise-machine` composes the records of these; none of them knows a record, so that each is
//! read and tested by itself.
//!
//! | of | modules |
//! |---|---|
//! | the image and its board | [`options`], [`board`], [`stacks`], [`priority`], [`fatal`] |
//! | the machine and a core | [`periodic`], [`deferred_work`], [`announcement`], and [`interrupts::SpiOwners`] |
//! | a VM | [`description`], [`stage2`], [`interrupts`], [`log_ring`] |
//! | a VM's run | [`fault`], [`restart`], [`suspension`], [`lost_cores`], [`resumable`] |
//! | a VM slot | [`slot`], [`backlog`] |
#![cfg_attr(target_os = "none", no_std)]
#![expect(
    unsafe_code,
    reason = "registers of the board, and memory that VMs share with Mortise"
)]

pub mod announcement;
pub mod backlog;
pub mod board;
pub mod deferred_work;
pub mod description;
pub mod fatal;
pub mod fault;
pub mod interrupts;
pub mod log_ring;
pub mod lost_cores;
pub mod options;
pub mod periodic;
pub mod priority;
pub mod restart;
pub mod resumable;
pub mod slot;
pub mod stacks;
pub mod stage2;
pub mod suspension;
