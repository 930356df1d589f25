//! Which system registers a guest owns, which trap, and what these are to it.
//!
//! # Purpose
//!
//! The table of `mortise_vcpu::Traps`, register by register. Two read it: the tests of `mortise_vcpu`,
//! which compare what is answered for a trap, and the hostile guest (`tests/guests/hostile`), which tries each
//! row on a machine and counts its exits. So a register that is added here is tried, and one whose trap
//! is taken away is found.
//!
//! # Guarantees
//!
//! It is data: nothing here touches a register.
//!
//! # Example
//!
//! ```
//! use mortise_authority::{Answer, Authority, TABLE};
//!
//! let timer = TABLE.iter().find(|row| row.name == "CNTP_CTL_EL0").unwrap();
//! assert_eq!((timer.alone, timer.shared), (Authority::Own, Authority::Trap(Answer::Undefined)));
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod table;

pub use table::TABLE;

/// Whose a register is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authority {
    /// The guest's: the hardware's own, or that of the virtual CPU interface. No access exits, and
    /// what is written is kept.
    Own,
    /// Mortise's: each access exits, and is answered like this.
    Trap(Answer),
    /// Nobody's: the core has none. If it had, it would trap and not exist.
    Absent,
}

/// What an access that traps comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The register does not exist.
    Undefined,
    /// It reads as this and ignores writes.
    Constant(u64),
    /// It reads as Mortise says, and cannot be written.
    Identity,
    /// A write sends software-generated interrupts; it cannot be read.
    Sgi,
}

/// How a register is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is read only, or not to be written where it is tried.
    Read,
    /// It is written only.
    Write,
    /// It is both; these bits keep what is written.
    Both(u64),
}

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name in the Arm ARM.
    pub name: &'static str,
    /// `op0`, `op1`, `CRn`, `CRm`, `op2`.
    pub register: [u16; 5],
    /// Whose it is on a core that a guest has to itself.
    pub alone: Authority,
    /// Whose it is on a core that several share.
    pub shared: Authority,
    /// How it is accessed.
    pub access: Access,
    /// Whether it is of the system register interface of a GICv3.
    pub gicv3: bool,
    /// Whether the emulator has its trap. QEMU 7.2 has neither that of implementation defined registers
    /// (`HCR_EL2.TIDCP`) nor that of `ICC_SRE_EL1`: there only a constant can be told.
    pub modelled: bool,
}
