//! [`Image`] of the vDSO: an ELF file of one page, which is made at compile time.

use crate::PAGE;
use crate::code::{CLOCK_GETRES, CLOCK_GETTIME, GETTIMEOFDAY, RT_SIGRETURN};

/// A page with an ELF file.
#[derive(Debug)]
#[repr(C, align(4096))]
pub struct Image([u8; PAGE]);

impl Image {
    /// The file.
    #[must_use]
    pub const fn bytes(&'static self) -> &'static [u8] {
        &self.0
    }
}

/// The vDSO of all processes.
pub static IMAGE: Image = Image(image());

/// Names of the file, of its version and of its functions, each with a zero; [`name`] is the place
/// of one of them.
const NAMES: &[&str] = &[
    "",
    "linux-vdso.so.1",
    "LINUX_2.6.39",
    "__kernel_rt_sigreturn",
    "__kernel_gettimeofday",
    "__kernel_clock_gettime",
    "__kernel_clock_getres",
];
/// The index of the first function in [`NAMES`].
const FIRST: usize = 3;
/// Functions by their indices, as they are in [`NAMES`].
const FUNCTIONS: [&[u32]; 4] = [&RT_SIGRETURN, &GETTIMEOFDAY, &CLOCK_GETTIME, &CLOCK_GETRES];
/// Entries of the symbol table: the empty one, and the functions.
const SYMBOLS: usize = 1 + FUNCTIONS.len();

/// Places of the parts.
const HEADERS: usize = 64;
const DYNAMIC: usize = HEADERS + 2 * 56;
const SYMBOL_TABLE: usize = DYNAMIC + 11 * 16;
const HASH: usize = SYMBOL_TABLE + SYMBOLS * 24;
const VERSIONS: usize = HASH + (2 + 1 + SYMBOLS) * 4;
const DEFINITIONS: usize = (VERSIONS + SYMBOLS * 2).next_multiple_of(8);
const NAME_TABLE: usize = DEFINITIONS + 2 * 28;
const CODE: usize = (NAME_TABLE + name(NAMES.len())).next_multiple_of(16);

/// The place of a name in the table of names.
const fn name(index: usize) -> usize {
    let (mut at, mut before) = (0, 0);
    while before < index {
        at += NAMES[before].len() + 1;
        before += 1;
    }
    at
}

/// The place of a function.
const fn function(index: usize) -> usize {
    let (mut at, mut before) = (CODE, 0);
    while before < index {
        at = (at + FUNCTIONS[before].len() * 4).next_multiple_of(16);
        before += 1;
    }
    at
}

/// The place of the instructions to which handlers return.
pub const SIGRETURN: usize = function(0) + 4;

/// The hash of a name in a table of versions (System V ABI).
const fn hash(name: &str) -> u32 {
    let (bytes, mut value, mut index) = (name.as_bytes(), 0u32, 0);
    while index < bytes.len() {
        value = (value << 4).wrapping_add(bytes[index] as u32);
        let high = value & 0xf000_0000;
        value = (value ^ (high >> 24)) & !high;
        index += 1;
    }
    value
}

/// Writes little-endian numbers one behind another.
struct Writer {
    page: [u8; PAGE],
    at: usize,
}

impl Writer {
    /// Writes numbers, each with the bytes that it takes.
    const fn put(&mut self, numbers: &[(u64, usize)]) {
        let mut index = 0;
        while index < numbers.len() {
            let (value, size) = numbers[index];
            let mut byte = 0;
            while byte < size {
                self.page[self.at] = (value >> (8 * byte)) as u8;
                self.at += 1;
                byte += 1;
            }
            index += 1;
        }
    }
}

const fn image() -> [u8; PAGE] {
    let mut file = Writer {
        page: [0; PAGE],
        at: 0,
    };
    let end = function(FUNCTIONS.len()) as u64;
    // The header: ELF64, little endian; ET_DYN, EM_AARCH64; two program headers.
    file.put(&[(0x0001_0102_464c_457f, 8), (0, 8), (3, 2), (183, 2), (1, 4)]);
    file.put(&[(0, 8), (HEADERS as u64, 8), (0, 8), (0, 4)]);
    file.put(&[(64, 2), (56, 2), (2, 2), (64, 2), (0, 2), (0, 2)]);
    // PT_LOAD, read and execute: all of it.
    file.put(&[(1, 4), (5, 4), (0, 8), (0, 8), (0, 8)]);
    file.put(&[(end, 8), (end, 8), (PAGE as u64, 8)]);
    // PT_DYNAMIC.
    let (at, size) = (DYNAMIC as u64, (SYMBOL_TABLE - DYNAMIC) as u64);
    file.put(&[(2, 4), (4, 4), (at, 8), (at, 8), (at, 8)]);
    file.put(&[(size, 8), (size, 8), (8, 8)]);
    // DT_HASH, STRTAB, SYMTAB, STRSZ, SYMENT, SONAME, VERSYM, VERDEF, VERDEFNUM, and the end.
    file.put(&[(4, 8), (HASH as u64, 8), (5, 8), (NAME_TABLE as u64, 8)]);
    file.put(&[(6, 8), (SYMBOL_TABLE as u64, 8)]);
    file.put(&[(10, 8), (name(NAMES.len()) as u64, 8), (11, 8), (24, 8)]);
    file.put(&[(14, 8), (name(1) as u64, 8)]);
    file.put(&[(0x6fff_fff0, 8), (VERSIONS as u64, 8)]);
    file.put(&[(0x6fff_fffc, 8), (DEFINITIONS as u64, 8)]);
    file.put(&[(0x6fff_fffd, 8), (2, 8), (0, 8), (0, 8)]);
    // Symbols: global functions of section 1, as there are no sections.
    file.at = SYMBOL_TABLE + 24;
    let mut index = 0;
    while index < FUNCTIONS.len() {
        file.put(&[(name(FIRST + index) as u64, 4), (0x12, 1), (0, 1), (1, 2)]);
        let size = FUNCTIONS[index].len() as u64 * 4;
        file.put(&[(function(index) as u64, 8), (size, 8)]);
        index += 1;
    }
    // A table of hashes with one chain of all.
    file.put(&[(1, 4), (SYMBOLS as u64, 4), (1, 4), (0, 4)]);
    let mut index = 2;
    while index <= SYMBOLS {
        file.put(&[(if index < SYMBOLS { index as u64 } else { 0 }, 4)]);
        index += 1;
    }
    // The version of each symbol: none, and the second one.
    file.put(&[(0, 2)]);
    let mut index = 0;
    while index < FUNCTIONS.len() {
        file.put(&[(2, 2)]);
        index += 1;
    }
    // Versions: the file itself, and that of the functions.
    file.at = DEFINITIONS;
    let mut index = 1;
    while index <= 2 {
        let (base, next) = if index == 1 { (1, 28) } else { (0, 0) };
        file.put(&[(1, 2), (base, 2), (index as u64, 2), (1, 2)]);
        file.put(&[(hash(NAMES[index]) as u64, 4), (20, 4), (next, 4)]);
        file.put(&[(name(index) as u64, 4), (0, 4)]);
        index += 1;
    }
    let mut index = 0;
    while index < NAMES.len() {
        let (bytes, mut byte) = (NAMES[index].as_bytes(), 0);
        while byte < bytes.len() {
            file.put(&[(bytes[byte] as u64, 1)]);
            byte += 1;
        }
        file.put(&[(0, 1)]);
        index += 1;
    }
    let mut index = 0;
    while index < FUNCTIONS.len() {
        file.at = function(index);
        let mut word = 0;
        while word < FUNCTIONS[index].len() {
            file.put(&[(FUNCTIONS[index][word] as u64, 4)]);
            word += 1;
        }
        index += 1;
    }
    file.page
}
