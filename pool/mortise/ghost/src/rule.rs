//! What is wrong, in one line.

use core::fmt;

/// A rule that does not hold, and what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// A control register is not as the table of registers has it for this virtual CPU.
    Control {
        /// Its name.
        register: &'static str,
        /// What it holds.
        found: u64,
        /// What it must hold.
        expected: u64,
    },
    /// A list register holds an interrupt that the VM does not own.
    Foreign {
        /// The list register, and what it holds.
        list: (usize, u64),
    },
    /// A list register is bound to hardware and its interrupt is not, or the other way round, or to
    /// another physical interrupt, or pending and active at once.
    Binding {
        /// The list register, and what it holds.
        list: (usize, u64),
    },
    /// An interrupt is in two list registers.
    Twice {
        /// The interrupt.
        intid: u32,
        /// The list registers.
        lists: (usize, usize),
    },
    /// The virtual controller has an interrupt in a list register of this virtual CPU, and there it is
    /// not: it is lost.
    Nowhere {
        /// The interrupt.
        intid: u32,
    },
    /// An interrupt that no hardware backs is in a list register without the controller's knowing.
    Unknown {
        /// The list register, and what it holds.
        list: (usize, u64),
    },
    /// An interrupt was pending or active when the guest came, and is neither when it goes on, though
    /// nobody wrote to the controller.
    Lost {
        /// The interrupt.
        intid: u32,
        /// Whether it was active.
        active: bool,
    },
    /// Stage 2 leads to what the VM does not have, or with rights that it does not have there.
    Reach {
        /// Where the VM sees it.
        ipa: u64,
        /// The descriptor.
        descriptor: u64,
    },
    /// A table of stage 2 is not among the tables of Mortise's.
    Table {
        /// Where the VM sees what it translates.
        ipa: u64,
        /// The descriptor.
        descriptor: u64,
    },
    /// A page of RAM is the own memory of two.
    Owners {
        /// The page.
        page: u64,
    },
}

impl fmt::Display for Broken {
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
            Self::Twice {
                intid,
                lists: (one, two),
            } => write!(
                f,
                "rule once: INTID {intid} is in list registers {one} and {two}"
            ),
            Self::Nowhere { intid } => write!(
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
                "rule kept: INTID {intid} was {} and is gone",
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
            Self::Owners { page } => write!(f, "rule owner: the page {page:#x} is another's too"),
        }
    }
}
