//! Challenge and response of a test program.
//!
//! A test gives an image a number that was not known when the image was built. The application passes
//! it through each mechanism that it demonstrates, with one [`step`] each, and prints the response. A
//! step is a bijection, so that a step that was left out or done twice changes the response.
//!
//! ```
//! use support_challenge::step;
//!
//! assert_ne!(step(step(4711)), step(4711));
//! ```

#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "console")]
use core_log::error;
use core_log::info;

/// One step of the response: a bijection on 32-bit numbers.
#[must_use]
pub const fn step(number: u32) -> u32 {
    number.rotate_left(7).wrapping_mul(0x2545_f491) ^ 0x6d2b_79f5
}

/// Asks for the challenge on the console; `None` if the console takes no input.
#[cfg(feature = "console")]
pub fn asked() -> Option<u32> {
    info!("which number?");
    loop {
        match tenon_line::read() {
            Ok(line) => match line.text().trim().parse() {
                Ok(number) => return Some(number),
                Err(_) => info!("a number from 0 to {}, please", u32::MAX),
            },
            Err(error) => {
                error!("no number: {error}");
                return None;
            }
        }
    }
}

/// Prints the response.
pub fn answer(number: u32) {
    info!("the answer is {number}");
}

#[cfg(test)]
mod tests {
    use super::step;

    #[test]
    fn the_steps_are_those_of_the_orchestrator() {
        assert_eq!((step(0), step(1)), (0x6d2b_79f5, 0xcfd1_3175));
    }
}
