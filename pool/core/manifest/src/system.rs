//! [`System`]: the VMs made at boot.

use crate::tables::{Tables, number};
use crate::{Error, Vm, check, limits};

/// Whether VMs and their cores can change at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each VM has its own cores, permanently.
    Static,
    /// VMs share cores and can be made and destroyed at run time.
    Dynamic,
}

/// Configuration of the system at boot.
#[derive(Clone, Copy, Debug)]
pub struct System<'a> {
    /// Its name.
    pub name: &'a str,
    /// The board for which it was built.
    pub board: &'a str,
    /// Whether VMs and their cores can change at run time.
    pub mode: Mode,
    /// Index of the VM that receives the console input at first.
    pub console_input: Option<usize>,
    /// Its VMs, at least one.
    pub vms: &'a [Vm],
}

impl<'a> System<'a> {
    /// System of the manifest at the start of `bytes`, which must be aligned to 8.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error<'a>> {
        Self::parse_within(limits::VMS, bytes)
    }

    /// As [`System::parse`], with at most `room` VMs. With room for one VM, the pairwise checks are
    /// compiled out.
    #[inline]
    pub fn parse_within(room: usize, bytes: &'a [u8]) -> Result<Self, Error<'a>> {
        let tables = Tables::open(bytes)?;
        let header = tables.header;
        let invalid = |field, must| Error::invalid("system", field, must);
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
