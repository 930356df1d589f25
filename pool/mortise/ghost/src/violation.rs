//! Violations of a rule, with their one-line messages.

use core::fmt;

/// A violated rule, and what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Violation {
    /// A control register differs from its value in the register table.
    Control {
        /// Its name.
        register: &'static str,
        /// Its value.
        found: u64,
        /// Its expected value.
        expected: u64,
    },
    /// A list register holds an interrupt that the VM does not own.
    Foreign {
        /// The list register and its value.
        list: (usize, u64),
    },
    /// A list register is bound to hardware although its interrupt is not, or vice versa, or is bound to another
    /// physical interrupt, or is pending and active at once.
    Binding {
        /// The list register and its value.
        list: (usize, u64),
    },
    /// An interrupt is in two list registers.
    Duplicate {
        /// The interrupt.
        intid: u32,
        /// The list registers.
        lists: (usize, usize),
    },
    /// An interrupt that is listed for this vCPU is in no list register: it is lost.
    Missing {
        /// The interrupt.
        intid: u32,
    },
    /// An interrupt not backed by hardware is in a list register but not listed in memory.
    Unknown {
        /// The list register and its value.
        list: (usize, u64),
    },
    /// An interrupt that was pending or active at the exit is neither at guest entry, without a write to the
    /// virtual GIC.
    Lost {
        /// The interrupt.
        intid: u32,
        /// Whether it was active.
        active: bool,
    },
    /// Stage 2 maps memory that the VM does not have, or with rights that it does not have.
    Reach {
        /// Its IPA.
        ipa: u64,
        /// The descriptor.
        descriptor: u64,
    },
    /// A stage 2 table is outside the tables of Mortise.
    Table {
        /// The IPA that it translates.
        ipa: u64,
        /// The descriptor.
        descriptor: u64,
    },
    /// A page of RAM that is private to one VM is mapped by another.
    SharedPage {
        /// The page.
        page: u64,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Control {
                register,
                found,
                expected,
            } => write!(
                f,
                "rule control: {register} is {found:#x}, must be {expected:#x}"
            ),
            Self::Foreign {
                list: (index, value),
            } => write!(
                f,
                "rule foreign: list register {index} is {value:#x}, INTID {} is not the VM's",
                value as u32
            ),
            Self::Binding {
                list: (index, value),
            } => write!(
                f,
                "rule binding: list register {index} is {value:#x}, not as hardware backs INTID {}",
                value as u32
            ),
            Self::Duplicate {
                intid,
                lists: (one, two),
            } => write!(
                f,
                "rule once: INTID {intid} is in list registers {one} and {two}"
            ),
            Self::Missing { intid } => write!(
                f,
                "rule listed: INTID {intid} is to be in a list register and is in none"
            ),
            Self::Unknown {
                list: (index, value),
            } => write!(
                f,
                "rule known: list register {index} is {value:#x}, the controller has it elsewhere"
            ),
            Self::Lost { intid, active } => write!(
                f,
                "rule vm_record: INTID {intid} was {} and is gone",
                if active { "active" } else { "pending" }
            ),
            Self::Reach { ipa, descriptor } => write!(
                f,
                "rule reach: stage 2 has {descriptor:#x} at {ipa:#x}, which the VM does not have"
            ),
            Self::Table { ipa, descriptor } => write!(
                f,
                "rule table: stage 2 has {descriptor:#x} at {ipa:#x}, which is no table of its own"
            ),
            Self::SharedPage { page } => {
                write!(f, "rule owner: the page {page:#x} is another's too")
            }
        }
    }
}
