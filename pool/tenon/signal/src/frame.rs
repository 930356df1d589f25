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
pub const USED: usize = 1168;
/// Where `ucontext_t` begins.
pub const CONTEXT: u64 = 128;

/// Offsets in the frame.
mod at {
    pub const STACK: usize = 144;
    pub const MASK: usize = 168;
    pub const FAULT: usize = 304;
    pub const REGISTERS: usize = 312;
    pub const RECORDS: usize = 592;
    /// Behind the head and the status of the first record.
    pub const FP: usize = 608;
}

/// The record of floating point: its magic number and bytes.
const FP: (u32, usize) = (0x4650_8001, 528);
/// The record of the exception syndrome.
const SYNDROME: (u32, usize) = (0x4553_5201, 16);
/// N, Z, C and V.
const FLAGS: u64 = 0xf << 28;
/// PSTATE of another exception level or AArch32, or with interrupts masked.
const REFUSED: u64 = 0x1f | 0xf << 6;

/// x0 to x30.
pub type General = [u64; 31];

/// The registers of EL0 beside x0 to x30.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// The stack pointer.
    pub sp: u64,
    /// The program counter.
    pub pc: u64,
    /// PSTATE, of which the flags alone are in a frame.
    pub pstate: u64,
}

/// v0 to v31, FPCR and FPSR.
pub type FloatingPoint = [u8; 528];

/// What a frame has beside the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The mask that the handler's end restores.
    pub mask: Set,
    /// The alternate stack.
    pub stack: AlternateStack,
}

/// Where a frame and its record begin: on an alternate stack, if one is stated and the thread is not there
/// already, else below the stack pointer.
#[must_use]
pub fn place(sp: u64, alternate: Option<AlternateStack>) -> (u64, u64) {
    let top = match alternate {
        Some(stack) if !stack.has(sp) => stack.start.wrapping_add(stack.size),
        _ => sp,
    };
    let record = top.wrapping_sub(RECORD) & !15;
    (record.wrapping_sub(SIZE), record)
}

/// The bytes of a frame that are written or read, aligned as those on a stack are: a word of it is accessed
/// as a whole. One that is [written](Self::encode) again and again has zeros where no frame has a value.
#[derive(Debug)]
#[repr(align(16))]
pub struct Frame([u8; USED]);

impl Default for Frame {
    fn default() -> Self {
        Self::new()
    }
}

impl Frame {
    /// A frame of zeros.
    #[must_use]
    pub const fn new() -> Self {
        Self([0; USED])
    }

    /// The bytes of a frame: `store_fp` stores the registers of floating point, and `fault` are address
    /// and syndrome of a fault.
    pub fn encode(
        &mut self,
        info: &Info,
        (general, registers): (&General, &Registers),
        store_fp: impl FnOnce(&mut FloatingPoint),
        saved: &Saved,
        fault: (u64, u64),
    ) -> &[u8; USED] {
        let Self(bytes) = self;
        bytes[..Info::USED].copy_from_slice(&info.encode());
        bytes[at::STACK..at::MASK].copy_from_slice(&saved.stack.encode());
        // FPCR and FPSR are stored where the next record begins, and moved from there.
        bytes[at::FP..].first_chunk_mut().map(store_fp);
        let (words, _) = bytes.as_chunks_mut();
        words[at::MASK / 8] = saved.mask.0.to_le_bytes();
        words[at::FAULT / 8] = fault.0.to_le_bytes();
        let (places, records) =
            words[at::REGISTERS / 8..].split_at_mut(at::RECORDS / 8 - at::REGISTERS / 8);
        put(places, general);
        let others = [registers.sp, registers.pc, registers.pstate & FLAGS];
        put(&mut places[general.len()..], &others);
        let head = |record: (u32, usize)| u64::from(record.0) | (record.1 as u64) << 32;
        let (first, next) = records.split_at_mut(FP.1 / 8);
        let mut status = [0; 2];
        take(next, &mut status);
        // FPSR comes before FPCR.
        put(
            first,
            &[head(FP), u64::from(status[1] as u32) | status[0] << 32],
        );
        let syndrome = if fault.1 == 0 { 0 } else { head(SYNDROME) };
        put(next, &[syndrome, fault.1]);
        bytes
    }

    /// The bytes, to read a frame into them.
    pub fn bytes_mut(&mut self) -> &mut [u8; USED] {
        &mut self.0
    }

    /// Reads a frame, with its registers of floating point, which are in its bytes. `None` if it is none:
    /// without a record of floating point, or with a PSTATE that a process cannot have. The registers are
    /// as before then.
    #[must_use]
    pub fn decode(&mut self, general: &mut General) -> Option<(Registers, Saved, &FloatingPoint)> {
        let Self(bytes) = self;
        let (words, _) = bytes.as_chunks();
        let word = |index: usize| words.get(index).map(|word| u64::from_le_bytes(*word));
        let registers = Registers {
            sp: word(at::REGISTERS / 8 + 31)?,
            pc: word(at::REGISTERS / 8 + 32)?,
            pstate: word(at::REGISTERS / 8 + 33)?,
        };
        if registers.pstate & REFUSED != 0 {
            return None;
        }
        let mut record = at::RECORDS / 8;
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
            record += size / 8;
        }
        let status = word(record + 1)?;
        let saved = Saved {
            mask: Set(word(at::MASK / 8)?) & !Set::UNBLOCKABLE,
            stack: AlternateStack::decode([
                word(at::STACK / 8)?,
                word(at::STACK / 8 + 1)?,
                word(at::STACK / 8 + 2)?,
            ]),
        };
        let (words, _) = bytes.as_chunks_mut();
        // As they are in the registers, in place of the record behind.
        let next = words.get_mut(record + 66..record + 68)?;
        put(next, &[status >> 32, status & 0xffff_ffff]);
        take(&words[at::REGISTERS / 8..], general);
        let fp = bytes[8 * record + 16..].first_chunk()?;
        Some((registers, saved, fp))
    }
}

/// Frames between the memory of a process and the registers, which are kept: none is cleared for each
/// signal.
#[derive(Debug)]
pub struct Buffers {
    /// A frame that is written.
    pub written: Frame,
    /// A frame that is read.
    pub read: Frame,
}

impl Buffers {
    /// Without a frame.
    pub const NEW: Self = Self {
        written: Frame::new(),
        read: Frame::new(),
    };
}

/// Writes words at the start of a part of a frame.
fn put(to: &mut [[u8; 8]], from: &[u64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = from.to_le_bytes();
    }
}

/// Reads words at the start of a part of a frame.
fn take(from: &[[u8; 8]], to: &mut [u64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = u64::from_le_bytes(*from);
    }
}
