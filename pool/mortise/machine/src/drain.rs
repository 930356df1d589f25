//! Progress of the log rings' output on the console.

use super::vm::Vm;

/// Bytes of one VM that are printed per period: somewhat more than a line of 115,200 baud, with 10
/// bits per byte, transmits in it.
pub const SHARE: usize = 256;

/// Bytes that are taken out of a log ring at a time.
pub const PIECE: usize = 2;

/// Output of log rings in progress.
pub struct Drain {
    /// VM of the last piece that was taken.
    pub vm: Option<&'static Vm>,
    /// That piece.
    pub piece: [u8; PIECE],
    /// Its bytes.
    pub length: usize,
    /// Whether it is in that VM's backlog, if any.
    pub kept: bool,
    /// How many bytes of it are printed.
    pub put: usize,
    /// VM with the next log ring in this period.
    pub turn: usize,
    /// Bytes left of its share.
    pub left: usize,
}

impl Drain {
    /// No output in progress.
    pub const NONE: Self = Self {
        vm: None,
        piece: [0; PIECE],
        length: 0,
        kept: true,
        put: 0,
        turn: 0,
        left: SHARE,
    };
}
