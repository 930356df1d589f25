//! Entry points of fuzz targets.
//!
//! Under cargo-fuzz, which sets `cfg(fuzzing)`, libFuzzer chooses inputs by coverage. Otherwise the
//! program is a test with a few hundred inputs of proptest, so that targets compile and run in CI.

/// Defines the program of a target that takes bytes, with a corpus of seeds in `seeds/NAME`.
#[allow(unused_macros, reason = "a target is defined by one of the two macros")]
macro_rules! parser {
    ($name:literal, |$input:ident| $body:block) => {
        fn run($input: &[u8]) $body

        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|input: &[u8]| run(input));

        #[cfg(not(fuzzing))]
        fn main() {
            println!("cargo fuzz run --fuzz-dir tests/fuzz {}", module_path!());
            let _target: fn(&[u8]) = run;
        }

        #[cfg(test)]
        fn seeds() -> Vec<Vec<u8>> {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/seeds/", $name);
            let files = std::fs::read_dir(folder).unwrap();
            files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
        }

        #[test]
        fn takes_each_seed() {
            let seeds = seeds();
            assert!(!seeds.is_empty());
            seeds.iter().for_each(|seed| run(seed));
        }

        #[cfg(test)]
        proptest::proptest! {
            #[test]
            fn takes_any_bytes(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..600)) {
                run(&bytes);
            }

            #[test]
            fn takes_changed_seeds(
                seed in proptest::prelude::any::<proptest::sample::Index>(),
                changes in proptest::collection::vec(proptest::prelude::any::<(u16, u8)>(), 0..8),
                length in 0..4096usize,
            ) {
                let seeds = seeds();
                let mut bytes = seed.get(&seeds).clone();
                for (at, byte) in changes {
                    let at = usize::from(at) % bytes.len();
                    bytes[at] = byte;
                }
                bytes.truncate(bytes.len().saturating_sub(length % 64));
                run(&bytes);
            }
        }
    };
}

/// Defines the program of a target that takes any value of a type.
#[allow(unused_macros, reason = "a target is defined by one of the two macros")]
macro_rules! target {
    (|$input:ident: $type:ty| $body:block) => {
        fn run($input: $type) $body

        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|input: $type| run(input));

        #[cfg(not(fuzzing))]
        fn main() {
            println!("cargo fuzz run --fuzz-dir tests/fuzz {}", module_path!());
            let _target: fn($type) = run;
        }

        #[cfg(test)]
        proptest::proptest! {
            #[test]
            fn takes_anything(input in proptest::prelude::any::<$type>()) {
                run(input);
            }
        }
    };
}
