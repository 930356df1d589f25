//! [`Generator`] of random numbers: ChaCha20 with fast key erasure.
//!
//! A [`Generator`] expands a key by ChaCha20 into a buffer, of which the first 32 bytes replace the key
//! before any other is given out; bytes that are given out are erased. [`source::seed`] returns a
//! seed of the TRNG of the SMC Calling Convention (Arm DEN 0098), which Mortise has.
//!
//! Guarantees: from the state of a generator its earlier output does not follow. A generator without
//! a seed [says so](Generator::is_seeded), and its bytes vary addresses, but are no keys. Seeds are
//! added to the key, never put in its place, so that a seed that is known takes nothing away. No
//! allocation, no lock, no masked interrupt; 224 bytes of output take 4 blocks, some 5,000
//! instructions.
//!
//! ```
//! use tenon_entropy::Generator;
//!
//! let mut generator = Generator::new();
//! assert!(!generator.is_seeded());
//! generator.seed(&[7; 32]);
//! let mut key = [0; 16];
//! generator.fill(&mut key);
//! assert!(generator.is_seeded() && key != [0; 16]);
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod generator;
pub mod source;

pub use generator::Generator;
