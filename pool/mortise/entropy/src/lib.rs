//! Entropy for guests: seeds in their device trees, and the TRNG of the SMC Calling Convention.
//!
//! # Purpose
//!
//! A VM has no source of entropy of its own. Linux without a seed extracts a number by its slowest path in
//! every system call and has no KASLR. At boot Mortise collects what the board offers ([`source`]): the
//! `rng-seed` of the boot loader's device tree, the firmware's TRNG, the instruction RNDR. From that it
//! derives a generator for each core, an Ascon-XOF128 (NIST SP 800-232) that is read 8 bytes at a time and
//! keyed anew by its own output. The seed in the boot loader's tree is overwritten.
//!
//! - At each start of a VM, `rng-seed` and `kaslr-seed` in `/chosen` of its device tree get new values.
//! - Guests call TRNG_VERSION, FEATURES, GET_UUID, RND32 and RND64 (Arm DEN 0098).
//!
//! # Guarantees
//!
//! - **No false entropy.** Without a source the calls are not supported, and both properties are removed
//!   from the tree (`FDT_NOP`), as a guest would credit them.
//! - **Bounded.** A step is a round of the permutation, some 40 instructions, or stores 8 bytes of its
//!   output. Between steps interrupts are taken. At boot, before any VM runs, nothing is bounded.
//! - **Separate.** No output is given out twice; from what one VM reads that of another does not follow.
//! - **Forward secure.** When a VM has its seeds, they do not follow from the state of the generator any
//!   more; nor do the numbers of calls, but for the last 16 words.
//! - No lock is shared between cores, no allocation.
//!
//! With QEMU, `-seed` fixes the seed of the tree: deterministic runs repeat bit for bit.
#![cfg_attr(not(test), no_std)]
#![expect(
    unsafe_code,
    reason = "reads device trees, and writes the seeds of guests that do not run"
)]

mod generator;
mod seeder;
mod seeds;
mod source;
mod tree;
mod trng;

pub use seeder::{ENTROPY, Entropy};
pub use trng::GROUP as TRNG;
