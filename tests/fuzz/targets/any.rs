//! Entry points of fuzz targets.
//!
//! Under cargo-fuzz, which sets `cfg(fuzzing)`, libFuzzer chooses inputs by coverage. Otherwise the
//! program is a test with a few hundred inputs of proptest, so that targets compile and run in CI.

/// Defines the program of a target that takes any value of a type.
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
