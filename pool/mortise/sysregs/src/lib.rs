//! Table of system registers: which a guest owns, which trap, and the result of a trapped access.
//!
//! # Purpose
//!
//! The table of `mortise_vcpu::Traps`, register by register. It has two users: the tests of
//! `mortise_vcpu`, which compare the replies to traps, and the hostile guest (`tests/guests/hostile`),
//! which accesses each register on a machine and counts its exits. A register that is added here is
//! thus tried, and a removed trap is found.
//!
//! # Guarantees
//!
//! Constant data only; nothing here accesses a register.
//!
//! # Example
//!
//! ```
//! use mortise_sysregs::{Answer, Owner, TABLE};
//!
//! let timer = TABLE.iter().find(|row| row.name == "CNTP_CTL_EL0").unwrap();
//! assert_eq!((timer.alone, timer.shared), (Owner::Guest, Owner::Trap(Answer::Undefined)));
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod table;

pub use table::TABLE;

/// Owner of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The guest: an access reaches the hardware or the virtual CPU interface without an exit, and
    /// a written value is kept.
    Guest,
    /// Mortise: each access exits, with this result.
    Trap(Answer),
    /// None: the core does not have the register. If it did, an access would trap and be undefined.
    Absent,
}

/// Result of an access that traps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// An undefined instruction exception.
    Undefined,
    /// Reads return this value and writes are ignored.
    Constant(u64),
    /// Reads return a value that Mortise computes; writes are undefined. A guest alone on a core with
    /// nothing to hide reads all of these registers without an exit.
    Identity,
    /// A write sends software-generated interrupts; reads are undefined.
    Sgi,
}

/// Allowed accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only, or not written by the test.
    Read,
    /// Write only.
    Write,
    /// Read and write; these bits keep a written value.
    Both(u64),
}

/// A register of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Name in the Arm ARM.
    pub name: &'static str,
    /// `op0`, `op1`, `CRn`, `CRm`, `op2`.
    pub register: [u16; 5],
    /// Owner if the guest is alone on its core.
    pub alone: Owner,
    /// Owner on a shared core.
    pub shared: Owner,
    /// Allowed accesses.
    pub access: Access,
    /// Whether it belongs to the system register interface of a GICv3.
    pub gicv3: bool,
    /// Whether the emulator implements the trap. QEMU 7.2 implements neither the trap of
    /// implementation defined registers (`HCR_EL2.TIDCP`) nor that of `ICC_SRE_EL1`: there only a
    /// constant can be observed.
    pub modelled: bool,
}
