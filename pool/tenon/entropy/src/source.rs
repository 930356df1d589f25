//! Seeds of the hypervisor: the TRNG firmware interface (Arm DEN 0098).

use hw_arch::firmware::hypercall4;

/// TRNG_VERSION.
const VERSION: u32 = 0x8400_0050;
/// TRNG_RND64.
const RND64: u32 = 0xc400_0053;
/// Bits of a call at most (2.5).
const MOST: u64 = 192;
/// NO_ENTROPY: the call is to be repeated.
const NO_ENTROPY: i64 = -3;
/// Calls that are repeated.
const ATTEMPTS: usize = 16;

/// A seed of 256 bits; `None` if there is no source. Where no hypervisor is present, a call of one is
/// not to be made.
#[must_use]
pub fn seed(has_hypervisor: bool) -> Option<[u8; 32]> {
    if !has_hypervisor {
        return None;
    }
    seed_by(hypercall4)
}

fn seed_by(call: impl Fn(u32, [u64; 4]) -> [u64; 4]) -> Option<[u8; 32]> {
    let version = call(VERSION, [0; 4])[0] as i32;
    if version < 0x1_0000 {
        return None;
    }
    let mut seed = [0; 32];
    for part in seed.chunks_mut(MOST as usize / 8) {
        let words = random(&call, part.len() as u64 * 8)?;
        // The lowest bits are in x3, the highest in x1.
        let [high, middle, low] = words.map(u64::to_le_bytes);
        let bytes = [low, middle, high];
        part.copy_from_slice(&bytes.as_flattened()[..part.len()]);
    }
    Some(seed)
}

fn random(call: &impl Fn(u32, [u64; 4]) -> [u64; 4], bits: u64) -> Option<[u64; 3]> {
    for _ in 0..ATTEMPTS {
        let [status, words @ ..] = call(RND64, [bits, 0, 0, 0]);
        match status.cast_signed() {
            0 => return Some(words),
            NO_ENTROPY => {}
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    #[test]
    fn the_host_has_no_source() {
        assert_eq!(seed(true), None);
        assert_eq!(seed(false), None);
    }

    #[test]
    fn a_seed_has_all_bits_of_its_calls() {
        let asked = Cell::new(0);
        let seed = seed_by(|function, [bits, ..]| match function {
            VERSION => [0x1_0000, 0, 0, 0],
            // Each call is repeated once.
            _ if asked.replace(asked.get() + 1) % 2 == 0 => [NO_ENTROPY as u64, 0, 0, 0],
            _ if bits == 192 => [
                0,
                0x0303_0303_0303_0303,
                0x0202_0202_0202_0202,
                0x0101_0101_0101_0101,
            ],
            _ => [0, 0, 0, 0x0404_0404_0404_0404],
        });
        let expected: Vec<u8> = (1..=4).flat_map(|byte| [byte; 8]).collect();
        assert_eq!(seed.map(Vec::from), Some(expected));
        assert_eq!(asked.get(), 4);
    }

    #[test]
    fn a_source_that_fails_is_none() {
        for status in [-1, -2, NO_ENTROPY] {
            let call = |function, _: [u64; 4]| match function {
                VERSION => [0x1_0000, 0, 0, 0],
                _ => [status as u64, 1, 1, 1],
            };
            assert_eq!(seed_by(call), None);
        }
        assert_eq!(seed_by(|_, _| [u64::MAX, 0, 0, 0]), None);
    }
}
