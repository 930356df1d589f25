//! System calls that an image serves: all, or chosen ones.

/// Numbers of system calls lie below.
pub const NUMBERS: usize = 512;

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `statics!` defines it with this type, and no code writes it.
    safe static TENON_PROCESS_SERVED: [u64; NUMBERS / 64];
}

/// Whether a number is among the chosen ones.
#[must_use]
pub const fn is_chosen(chosen: Option<&[u16]>, number: u16) -> bool {
    let Some(chosen) = chosen else {
        return true;
    };
    let mut index = 0;
    while index < chosen.len() {
        if chosen[index] == number {
            return true;
        }
        index += 1;
    }
    false
}

/// Entries of the table up to the highest of the chosen numbers, or of all.
#[must_use]
pub const fn table_size(chosen: Option<&[u16]>) -> usize {
    let mut size = NUMBERS;
    while chosen.is_some() && size > 0 && !is_chosen(chosen, size as u16 - 1) {
        size -= 1;
    }
    size
}

/// The numbers with a function, as bits.
#[must_use]
pub const fn served<F>(table: &[Option<F>]) -> [u64; NUMBERS / 64] {
    let (mut served, mut number) = ([0; NUMBERS / 64], 0);
    while number < table.len() {
        served[number / 64] |= (table[number].is_some() as u64) << (number % 64);
        number += 1;
    }
    served
}

/// Whether the image serves a system call. What only an unserved call would set off is not linked, as
/// this is known at compile time.
#[inline(always)]
#[must_use]
pub fn serves(number: usize) -> bool {
    #[cfg(target_os = "none")]
    return TENON_PROCESS_SERVED[number / 64] >> (number % 64) & 1 != 0;
    #[cfg(not(target_os = "none"))]
    return number < NUMBERS;
}
