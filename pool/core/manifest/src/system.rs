//! The whole system, for Mortise.

use crate::header::{Tables, number};
use crate::{Error, Vm, check, limits};

/// What may change while a system runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing: each VM has its cores for itself and for good.
    Static,
    /// VMs share cores, come and go.
    Dynamic,
}

/// The system that Mortise is to run.
#[derive(Clone, Copy, Debug)]
pub struct System<'a> {
    /// Its name.
    pub name: &'a str,
    /// The board it was built for.
    pub board: &'a str,
    /// Whether VMs come, go and share cores.
    pub mode: Mode,
    /// The index of the VM that gets the console's input first.
    pub console_input: Option<usize>,
    /// Its VMs, at least one.
    pub vms: &'a [Vm],
}

impl<'a> System<'a> {
    /// That of the manifest at the start of `bytes`, which begin at a multiple of 8.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error<'a>> {
        Self::parse_within(limits::VMS, bytes)
    }

    /// The same, of so many VMs at most: a kernel that has room for one has nothing to compare.
    #[inline]
    pub fn parse_within(room: usize, bytes: &'a [u8]) -> Result<Self, Error<'a>> {
        let tables = Tables::open(bytes)?;
        let header = tables.header;
        let invalid = |field, must| Error::Invalid {
            of: "system",
            field,
            must,
        };
        let mode = match header.mode {
            0 => Mode::Static,
            1 => Mode::Dynamic,
            _ => return Err(invalid("mode", "be static or dynamic")),
        };
        let vms: &[Vm] = tables.all(room.min(limits::VMS))?;
        if vms.is_empty() {
            return Err(invalid("vms", "be at least one"));
        }
        check::vms(vms)?;
        if room > 1 {
            check::pairs(vms, mode)?;
        }
        let console_input = number(header.console_input);
        if console_input.is_some_and(|vm| vm >= vms.len()) {
            return Err(invalid("console-input", "be a VM"));
        }
        Ok(Self {
            name: header.system.as_str(),
            board: header.board.as_str(),
            mode,
            console_input,
            vms,
        })
    }
}
