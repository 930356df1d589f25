//! The frame of a handler on the stack of a thread, as Linux has it for AArch64: `siginfo_t`,
//! `ucontext_t` with the registers and records of floating point and syndrome, and behind it a frame
//! record, by which debuggers find the interrupted function.

use crate::alternate_stack::AlternateStack;
use crate::info::Info;
use crate::set::Set;

/// Bytes of a frame, of which [`USED`] are written.
pub const SIZE: u64 = 4688;
/// Bytes of the frame record behind it.
pub const RECORD: u64 = 16;
/// Bytes of a frame that are written, or read by `rt_sigreturn`.
pub const USED: usize = 1152;
/// Where `ucontext_t` begins.
pub const CONTEXT: u64 = 128;

/// Offsets in the frame.
mod at {
    pub const STACK: usize = 144;
    pub const MASK: usize = 168;
    pub const FAULT: usize = 304;
    pub const REGISTERS: usize = 312;
    pub const RECORDS: usize = 592;
}

/// Words of the general registers: x0 to x30, the stack pointer, the program counter, PSTATE.
const WORDS: usize = 34;
/// The record of floating point: its magic number and bytes.
const FP: (u32, usize) = (0x4650_8001, 528);
/// The record of the exception syndrome.
const SYNDROME: (u32, usize) = (0x4553_5201, 16);
/// N, Z, C and V.
const FLAGS: u64 = 0xf << 28;
/// PSTATE of another exception level or AArch32, or with interrupts masked.
const REFUSED: u64 = 0x1f | 0xf << 6;

/// The registers of EL0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// x0 to x30.
    pub x: [u64; 31],
    /// The stack pointer.
    pub sp: u64,
    /// The program counter.
    pub pc: u64,
    /// PSTATE, of which the flags alone are in a frame.
    pub pstate: u64,
}

/// v0 to v31, FPCR and FPSR.
pub type FloatingPoint = [u64; 66];

/// What a frame has beside the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The mask that the handler's end restores.
    pub mask: Set,
    /// The alternate stack.
    pub stack: AlternateStack,
}

/// The bytes of a frame; `fault` are address and syndrome of a fault.
pub fn encode(
    bytes: &mut [u8; USED],
    info: &Info,
    registers: &Registers,
    fp: &FloatingPoint,
    saved: &Saved,
    fault: (u64, u64),
) {
    bytes.fill(0);
    let mut put = |at: usize, from: &[u8]| bytes[at..at + from.len()].copy_from_slice(from);
    put(0, &info.encode());
    put(at::STACK, &saved.stack.encode());
    put(at::MASK, &saved.mask.0.to_le_bytes());
    put(at::FAULT, &fault.0.to_le_bytes());
    let words = registers.x.iter().chain([&registers.sp, &registers.pc]);
    for (index, word) in words.enumerate() {
        put(at::REGISTERS + 8 * index, &word.to_le_bytes());
    }
    let pstate = registers.pstate & FLAGS;
    put(at::REGISTERS + 8 * (WORDS - 1), &pstate.to_le_bytes());
    let head = |record: (u32, usize)| u64::from(record.0) | (record.1 as u64) << 32;
    put(at::RECORDS, &head(FP).to_le_bytes());
    // FPSR comes before FPCR.
    put(at::RECORDS + 8, &(fp[65] as u32).to_le_bytes());
    put(at::RECORDS + 12, &(fp[64] as u32).to_le_bytes());
    for (index, word) in fp[..64].iter().enumerate() {
        put(at::RECORDS + 16 + 8 * index, &word.to_le_bytes());
    }
    if fault.1 != 0 {
        let next = at::RECORDS + FP.1;
        put(next, &head(SYNDROME).to_le_bytes());
        put(next + 8, &fault.1.to_le_bytes());
    }
}

/// Reads a frame. `None` if it is none: without a record of floating point, or with a PSTATE that a
/// process cannot have.
#[must_use]
pub fn decode(bytes: &[u8; USED], fp: &mut FloatingPoint) -> Option<(Registers, Saved)> {
    let word = |at: usize| {
        let part = bytes.get(at..at + 8).and_then(|part| part.first_chunk());
        part.copied().map(u64::from_le_bytes)
    };
    let mut x = [0; 31];
    for (index, register) in x.iter_mut().enumerate() {
        *register = word(at::REGISTERS + 8 * index)?;
    }
    let registers = Registers {
        x,
        sp: word(at::REGISTERS + 8 * 31)?,
        pc: word(at::REGISTERS + 8 * 32)?,
        pstate: word(at::REGISTERS + 8 * 33)?,
    };
    if registers.pstate & REFUSED != 0 {
        return None;
    }
    let mut record = at::RECORDS;
    loop {
        let head = word(record)?;
        let (magic, size) = (head as u32, (head >> 32) as usize);
        if magic == FP.0 && size == FP.1 {
            break;
        }
        // The end, or a record that leads nowhere.
        if magic == 0 || size < 16 || !size.is_multiple_of(16) || size > USED {
            return None;
        }
        record += size;
    }
    let status = word(record + 8)?;
    for (index, place) in fp[..64].iter_mut().enumerate() {
        *place = word(record + 16 + 8 * index)?;
    }
    (fp[64], fp[65]) = (status >> 32, status & 0xffff_ffff);
    let saved = Saved {
        mask: Set(word(at::MASK)?) & !Set::UNBLOCKABLE,
        stack: AlternateStack::decode([
            word(at::STACK)?,
            word(at::STACK + 8)?,
            word(at::STACK + 16)?,
        ]),
    };
    Some((registers, saved))
}
