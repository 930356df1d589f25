//! Programs that feed a target whatever there is.
//!
//! Under cargo-fuzz, which sets `cfg(fuzzing)`, libFuzzer chooses the input and looks for what reaches
//! new code. Else the program is a test: proptest chooses some inputs, so that a target that no longer
//! compiles, or that a few hundred inputs break, does not go unnoticed.

/// Makes the program of a target, which takes any value of a type.
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
