//! A number asked for at the start, and what an application makes of it.
//!
//! Whoever starts an image gives it a number that nobody knew when it was built. The application
//! takes it through what it is there to show, a [`step`] each time, and says what came of it. The
//! same steps done elsewhere give the same answer, and no other one: no two numbers have the same,
//! so a step that was left out or done twice shows.
//!
//! ```no_run
//! use tenon_challenge::{answer, asked, step};
//!
//! if let Some(number) = asked() {
//!     answer(step(step(number)));
//! }
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use core_log::{error, info};

/// One step of any computation: no two numbers have the same successor.
#[must_use]
pub const fn step(number: u32) -> u32 {
    number.rotate_left(7).wrapping_mul(0x2545_f491) ^ 0x6d2b_79f5
}

/// The number that is typed in answer to the question for it; nothing if nobody can type.
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

/// Says what became of the number.
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
