//! A number asked for at the start, and what an application makes of it.
//!
//! Whoever starts an image gives it a number that nobody knew when it was built. The application
//! takes it through what it is there to show, a [`step`] each time, and says what came of it.
//!
//! ```no_run
//! use tenon_challenge::{answer, asked, step};
//!
//! if let Some(number) = asked() {
//!     answer(step(step(number)));
//! }
//! ```

#![no_std]
#![forbid(unsafe_code)]

pub use core_challenge::step;

use core_log::{error, info};

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
