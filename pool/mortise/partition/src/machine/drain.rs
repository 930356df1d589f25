//! Progress of the log rings' output on the console.

use super::vm::Vm;

/// Bytes of one VM that are printed per period: somewhat more than a line of 115,200 baud, with 10
/// bits per byte, transmits in it.
pub(crate) const SHARE: usize = 256;

/// Bytes that are taken out of a log ring at a time.
pub(crate) const PIECE: usize = 2;

/// Output of log rings in progress.
pub(crate) struct Drain {
    /// The last piece that was taken: its VM, whether it is in that VM's backlog, if any, and how
    /// much of it is printed.
    pub(crate) vm: Option<&'static Vm>,
    pub(crate) piece: [u8; PIECE],
    pub(crate) length: usize,
    pub(crate) kept: bool,
    pub(crate) put: usize,
    /// VM with the next log ring in this period, and the bytes left of its share.
    pub(crate) turn: usize,
    pub(crate) left: usize,
}

impl Drain {
    /// No output in progress.
    pub(crate) const NONE: Self = Self {
        vm: None,
        piece: [0; PIECE],
        length: 0,
        kept: true,
        put: 0,
        turn: 0,
        left: SHARE,
    };
}
