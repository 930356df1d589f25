//! Logging of whole lines to a sink.
//!
//! # Purpose
//!
//! Both kernels and their applications log through the macros here, [`info!`] and the like; a
//! [`Sink`] decides where the lines go. A line reaches the sink in one piece, so that lines of
//! several cores do not mix.
//!
//! # Guarantees
//!
//! A text without arguments goes to the sink unchanged. Any other is formatted on the stack into a
//! [`Line`] of [`LINE_LENGTH`] bytes; a longer one is truncated and marked. An image that formats
//! nothing contains no formatting code, which is 15 kB, twice a small kernel. No allocation, and no
//! lock except those of the sink. Logging is not for real-time paths.
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

mod digits;
mod line;

pub use digits::digits;
pub use line::Line;

use core::fmt::{self, Write as _};
use spin::Once;

/// Maximum length of a formatted line, which is truncated beyond.
pub const LINE_LENGTH: usize = 240;

/// Severity of a line, the highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A failure.
    Error,
    /// A possible problem.
    Warn,
    /// Information on events.
    Info,
    /// Internal details.
    Debug,
}

impl Level {
    /// The lowest severity that is logged, by the options `CORE_LOG_ERROR` and `CORE_LOG_DEBUG` of
    /// the image.
    pub const fn chosen(errors: bool, everything: bool) -> Self {
        match (errors, everything) {
            (true, _) => Self::Error,
            (_, true) => Self::Debug,
            _ => Self::Info,
        }
    }

    /// Prefix of a line of this severity.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Error => "error: ",
            Self::Warn => "warning: ",
            Self::Info => "",
            Self::Debug => "debug: ",
        }
    }
}

/// Destination of log lines.
pub trait Sink: Sync {
    /// Takes one line without its terminator. Called on any core and in any context.
    fn write_line(&self, level: Level, text: &str);
}

/// The sink of the image, and the lowest severity that it receives.
static INSTALLED: Once<(&'static dyn Sink, Level)> = Once::new();

/// Installs the sink of the image, for lines of severity `least` and higher. Later calls have no
/// effect.
pub fn install(sink: &'static dyn Sink, least: Level) {
    INSTALLED.call_once(|| (sink, least));
}

/// Writes a line; called by the macros.
#[inline(always)]
pub fn write(level: Level, text: fmt::Arguments<'_>) {
    // The compiler knows which of the two it is and omits the other.
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
    // A line accepts any text; only a `Display` implementation can fail.
    let _ = line.write_fmt(text);
    write_text(level, line.as_str());
}

/// Generates the macro of each level; `$` is passed in, as a nested macro requires it.
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
    /// Logs a failure.
    error: Error;
    /// Logs a possible problem.
    warn: Warn;
    /// Logs information on events.
    info: Info;
    /// Logs internal details.
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
