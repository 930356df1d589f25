//! Log lines, handed whole to a sink.
//!
//! # Purpose
//!
//! Both kernels and their applications log through the macros here, [`info!`] and its like; where
//! the lines go is a [`Sink`]'s matter. A line reaches the sink in one piece, so that lines of
//! several cores do not mix.
//!
//! # Guarantees
//!
//! A text without arguments goes to the sink as it is. Any other is formatted on the stack into a
//! [`Line`] of [`LINE_LENGTH`] bytes; what is longer is cut and marked. An image in which nothing
//! is formatted has no formatting code: that is 15 kB, twice a small kernel. No allocation, no lock
//! of its own: which locks are taken is the sink's matter. A line has no place on the real-time
//! path.
//!
//! # Example
//!
//! ```
//! use core_log::{Level, Sink};
//!
//! struct Standard;
//! impl Sink for Standard {
//!     fn write_line(&self, level: Level, text: &str) {
//!         println!("{}{text}", level.prefix());
//!     }
//! }
//!
//! core_log::install(&Standard, Level::Info);
//! core_log::info!("{} VMs", 2);
//! core_log::warn!("no console input"); // warning: no console input
//! core_log::debug!("not shown");
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod line;

pub use line::Line;

use core::fmt::{self, Write as _};
use spin::Once;

/// Bytes of the longest formatted line; what is longer is cut.
pub const LINE_LENGTH: usize = 240;

/// How urgent a line is, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something failed.
    Error,
    /// Something may not be as it should be.
    Warn,
    /// What happens.
    Info,
    /// What happens inside.
    Debug,
}

impl Level {
    /// The least urgent level of an image whose configuration says `CORE_LOG_ERROR`,
    /// `CORE_LOG_DEBUG` or neither.
    pub const fn chosen(errors: bool, everything: bool) -> Self {
        match (errors, everything) {
            (true, _) => Self::Error,
            (_, true) => Self::Debug,
            _ => Self::Info,
        }
    }

    /// What a line of this level begins with.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Error => "error: ",
            Self::Warn => "warning: ",
            Self::Info => "",
            Self::Debug => "debug: ",
        }
    }
}

/// Where log lines go.
pub trait Sink: Sync {
    /// Takes one line, which has no line end. Called on any core and in any context.
    fn write_line(&self, level: Level, text: &str);
}

/// The sink of the whole image, and the least urgent lines it gets.
static INSTALLED: Once<(&'static dyn Sink, Level)> = Once::new();

/// Makes `sink` the one of the whole image, for lines of `least` and more urgent ones. Only the
/// first one installed counts.
pub fn install(sink: &'static dyn Sink, least: Level) {
    INSTALLED.call_once(|| (sink, least));
}

/// Writes a line: what the macros call.
#[inline(always)]
pub fn write(level: Level, text: fmt::Arguments<'_>) {
    // Which of the two it is the compiler knows, and leaves the other one out.
    match text.as_str() {
        Some(text) => write_text(level, text),
        None => write_formatted(level, text),
    }
}

#[cold]
#[inline(never)]
fn write_text(level: Level, text: &str) {
    if let Some((sink, least)) = INSTALLED.get()
        && level <= *least
    {
        sink.write_line(level, text);
    }
}

#[cold]
#[inline(never)]
fn write_formatted(level: Level, text: fmt::Arguments<'_>) {
    let mut line = Line::<LINE_LENGTH>::new();
    // A line takes any text; an error can only be one that a `Display` makes up.
    let _ = line.write_fmt(text);
    write_text(level, line.as_str());
}

/// Writes the macro of each level; `$` is handed in, as a macro within a macro needs it.
macro_rules! levels {
    ($dollar:tt $($(#[$documentation:meta])* $name:ident: $level:ident;)*) => {
        $(
            $(#[$documentation])*
            #[macro_export]
            macro_rules! $name {
                ($dollar($text:tt)+) => {
                    $crate::write($crate::Level::$level, ::core::format_args!($dollar($text)+))
                };
            }
        )*
    };
}

levels! { $
    /// Logs that something failed.
    error: Error;
    /// Logs that something may not be as it should be.
    warn: Warn;
    /// Logs what happens.
    info: Info;
    /// Logs what happens inside.
    debug: Debug;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Lines(Mutex<Vec<String>>);

    impl Sink for Lines {
        fn write_line(&self, level: Level, text: &str) {
            let line = format!("{}{text}", level.prefix());
            self.0.lock().unwrap().push(line);
        }
    }

    #[test]
    fn lines_say_how_urgent_they_are_and_are_cut() {
        static LINES: Lines = Lines(Mutex::new(Vec::new()));
        install(&LINES, Level::Info);
        install(&LINES, Level::Debug);
        error!("text");
        warn!("{}", "text");
        info!("{0}{0}", "x".repeat(1000));
        debug!("text");
        let lines = LINES.0.lock().unwrap();
        assert_eq!(lines[..2], ["error: text", "warning: text"]);
        assert_eq!((lines.len(), lines[2].len()), (3, LINE_LENGTH));
        assert!(lines[2].ends_with("x..."));
    }
}
