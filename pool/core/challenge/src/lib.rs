//! What is made of a number, to show that each step of something was done.
//!
//! Whoever has the number and does the same steps gets the same answer, and no other one: no two
//! numbers have the same successor, so a step that was left out or done twice shows.
//!
//! ```
//! use core_challenge::step;
//!
//! assert_ne!(step(step(4711)), step(4711));
//! ```

#![no_std]
#![forbid(unsafe_code)]

/// One step of any computation: no two numbers have the same successor.
#[must_use]
pub const fn step(number: u32) -> u32 {
    number.rotate_left(7).wrapping_mul(0x2545_f491) ^ 0x6d2b_79f5
}

#[cfg(test)]
mod tests {
    use super::step;

    #[test]
    fn the_steps_are_those_of_the_orchestrator() {
        assert_eq!((step(0), step(1)), (0x6d2b_79f5, 0xcfd1_3175));
    }
}
