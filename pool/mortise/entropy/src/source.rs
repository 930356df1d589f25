//! Sources of entropy of the board, collected once at boot.
//!
//! | source | taken |
//! |---|---|
//! | the boot loader's device tree | `rng-seed` of `/chosen`; QEMU's `virt` and U-Boot provide it |
//! | the firmware | TRNG_RND64 by SMC, if its PSCI reports version 1.1 of the calling convention and that a TRNG |
//! | the core | RNDR, if it has FEAT_RNG |
//!
//! All that there are enter the seed, so that it is at least as good as the best of them.

use crate::{
    generator::Seed,
    seeds::bytes,
    tree::{self, Property},
};
use hw_arch::firmware::{Call, Smc};
use mortise_partition::{Machine, boot_argument};

/// Bits of entropy in a seed, at least.
const ENOUGH: usize = 256;

/// A seed from all sources of the board; `None` if these have less than 256 bits.
pub fn collect(machine: &Machine) -> Option<Seed> {
    let mut pool = Pool {
        seed: Seed::default(),
        bits: 0,
    };
    let tree = boot_tree();
    let found = tree.and_then(|tree| tree.get(tree::chosen(tree, "rng-seed")?.value));
    if let Some(seed) = found {
        pool.add(seed);
    }
    let firmware = tree.is_some_and(has_firmware);
    if let Some(seed) = found {
        // SAFETY: the tree is in RAM, and neither it nor this part of it is read again.
        unsafe { wipe(seed.as_ptr() as usize, seed.len()) };
    }
    if firmware && has_trng::<Smc>() {
        for _ in 0..2 {
            if let Some(words) = trng::<Smc>() {
                words.iter().for_each(|word| pool.add(&word.to_le_bytes()));
            }
        }
    }
    for _ in 0..ENOUGH / 64 {
        if let Some(word) = rndr() {
            pool.add(&word.to_le_bytes());
        }
    }
    // Distinguishes two starts with the same seed, and is no entropy.
    pool.seed.add(&machine.now().to_le_bytes());
    (pool.bits >= ENOUGH).then_some(pool.seed)
}

struct Pool {
    seed: Seed,
    bits: usize,
}

impl Pool {
    /// Adds the output of a source. Zeros alone are what is left of a seed that was used, and none.
    fn add(&mut self, bytes: &[u8]) {
        self.seed.add(bytes);
        if bytes.iter().any(|byte| *byte != 0) {
            self.bits += bytes.len() * 8;
        }
    }
}

/// The device tree that the boot loader passed, if it passed one in RAM.
fn boot_tree() -> Option<&'static [u8]> {
    let at = boot_argument().filter(|at| at.is_multiple_of(8))?;
    // SAFETY: the boot loader, which is trusted, passed an address in RAM, and no VM runs yet.
    let size = tree::size(unsafe { bytes(at as u64, tree::HEADER) })?;
    // SAFETY: the header states that the tree has these bytes.
    Some(unsafe { bytes(at as u64, size) })
}

/// Overwrites bytes of RAM that becomes a guest's, which may read it with its caches off.
///
/// # Safety
///
/// To be called on the boot core, which maps all memory. The range is RAM, to which no reference is
/// used after that.
unsafe fn wipe(start: usize, size: usize) {
    for at in start..start + size {
        // SAFETY: the caller states that it is mapped RAM.
        unsafe { (at as *mut u8).write_volatile(0) };
    }
    // SAFETY: the same.
    unsafe { hw_arch::cache::clean_and_invalidate(start, size) };
}

/// Whether the tree names a firmware that is called by SMC: without one, SMC is undefined.
fn has_firmware(tree: &[u8]) -> bool {
    let method = tree::property(tree, "psci", "method");
    let is_smc = |found: Property| tree.get(found.value) == Some(b"smc\0");
    method.is_some_and(is_smc)
}

const PSCI_VERSION: u32 = 0x8400_0000;
const PSCI_FEATURES: u32 = 0x8400_000a;
const SMCCC_VERSION: u32 = 0x8000_0000;
const TRNG_VERSION: u32 = 0x8400_0050;
const TRNG_RND64: u32 = 0xc400_0053;

/// Calls a function of the firmware with one argument; `None` for an error.
fn ask<C: Call>(function: u32, argument: u32) -> Option<u32> {
    let [value, ..] = C::call32(function, [argument, 0, 0, 0, 0, 0, 0]);
    (value.cast_signed() >= 0).then_some(value)
}

/// Whether the firmware has a TRNG (Arm DEN 0098, 2.1; DEN 0022, 5.1 and 5.15).
fn has_trng<C: Call>() -> bool {
    ask::<C>(PSCI_VERSION, 0).is_some_and(|version| version >= 1 << 16)
        && ask::<C>(PSCI_FEATURES, SMCCC_VERSION).is_some()
        && ask::<C>(SMCCC_VERSION, 0).is_some_and(|version| version > 1 << 16)
        && ask::<C>(TRNG_VERSION, 0).is_some_and(|version| version >= 1 << 16)
}

/// 192 bits of the firmware; it may lack entropy for a moment.
fn trng<C: Call>() -> Option<[u64; 3]> {
    let mut arguments = [0; 17];
    arguments[0] = 192;
    (0..16).find_map(|_| match C::call64(TRNG_RND64, arguments) {
        [0, x1, x2, x3, ..] => Some([x1, x2, x3]),
        _ => None,
    })
}

/// A random number of the core (Arm ARM, D19.2.115, `RNDR`); it may lack entropy for a moment.
#[cfg(target_arch = "aarch64")]
fn rndr() -> Option<u64> {
    if hw_arch::read_register!("id_aa64isar0_el1") >> 60 == 0 {
        return None;
    }
    (0..16).find_map(|_| {
        let (number, valid): (u64, u32);
        // SAFETY: reads a register that the core has; Z is set if it gave no number.
        unsafe {
            core::arch::asm!(
                "mrs {number}, s3_3_c2_c4_0",
                "cset {valid:w}, ne",
                number = out(reg) number,
                valid = out(reg) valid,
                options(nomem, nostack),
            );
        }
        (valid != 0).then_some(number)
    })
}

#[cfg(not(target_arch = "aarch64"))]
const fn rndr() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::tree;

    /// A firmware with a TRNG that first lacks entropy.
    struct Firmware<const VERSION: u32, const TRNG: u32>;

    impl<const VERSION: u32, const TRNG: u32> Call for Firmware<VERSION, TRNG> {
        fn call32(function: u32, arguments: [u32; 7]) -> [u32; 8] {
            let value = match function {
                PSCI_VERSION => 0x1_0001,
                PSCI_FEATURES if arguments[0] == SMCCC_VERSION => 0,
                SMCCC_VERSION => VERSION,
                TRNG_VERSION => TRNG,
                _ => u32::MAX,
            };
            [value, 0, 0, 0, 0, 0, 0, 0]
        }

        fn call64(function: u32, arguments: [u64; 17]) -> [u64; 18] {
            assert_eq!((function, arguments[0]), (TRNG_RND64, 192));
            let mut answer = [7; 18];
            answer[0] = 0;
            answer
        }
    }

    #[test]
    fn a_trng_is_asked_if_the_firmware_has_one() {
        assert!(has_trng::<Firmware<0x1_0002, 0x1_0000>>());
        assert!(!has_trng::<Firmware<0x1_0000, 0x1_0000>>());
        assert!(!has_trng::<Firmware<0x1_0002, { u32::MAX }>>());
        assert!(!has_trng::<Smc>(), "there is none on the host");
        assert_eq!(trng::<Firmware<0x1_0002, 0x1_0000>>(), Some([7; 3]));
        assert_eq!(trng::<Smc>(), None);
    }

    #[test]
    fn firmware_is_called_only_by_the_trees_method() {
        assert!(has_firmware(&tree("psci", &[("method", b"smc\0")])));
        assert!(!has_firmware(&tree("psci", &[("method", b"hvc\0")])));
        assert!(!has_firmware(&tree("chosen", &[("method", b"smc\0")])));
    }

    #[test]
    fn a_seed_is_overwritten() {
        let mut seed = [7u8; 40];
        // SAFETY: the bytes are this array's.
        unsafe { wipe(seed.as_mut_ptr() as usize + 4, 32) };
        assert_eq!(seed[..4], [7; 4]);
        assert_eq!(seed[4..36], [0; 32]);
        assert_eq!(seed[36..], [7; 4]);
    }

    #[test]
    fn little_entropy_is_none() {
        let mut pool = Pool {
            seed: Seed::default(),
            bits: 0,
        };
        pool.add(&[1; 31]);
        assert!(pool.bits < ENOUGH);
        pool.add(&[0; 32]);
        assert!(pool.bits < ENOUGH, "a seed that was used before");
        pool.add(&[1; 1]);
        assert!(pool.bits >= ENOUGH);
    }
}
