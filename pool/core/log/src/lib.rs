//! Log lines, formatted without allocation and handed whole to a sink.
//!
//! # Purpose
//!
//! Both kernels log through the macros of the `log` crate; this crate stands between them and the
//! place the lines go to, a [`Sink`]. A line reaches the sink in one piece, so that lines of
//! several cores do not mix.
//!
//! # Guarantees
//!
//! A line is formatted on the stack into a [`Line`] of [`LINE_LENGTH`] bytes; what is longer is cut
//! and marked. No allocation, no lock of its own: which locks are taken is the sink's matter. A
//! line costs its formatting, which has no place on the real-time path.
//!
//! # Example
//!
//! ```
//! use core_log::{Level, Logger, Sink};
//!
//! struct Standard;
//! impl Sink for Standard {
//!     fn write_line(&self, line: &str) {
//!         println!("{line}");
//!     }
//! }
//!
//! static LOGGER: Logger<Standard> = Logger::new(Standard, Level::Info);
//! LOGGER.install();
//! core_log::info!("{} VMs", 2);
//! core_log::warn!("no console input"); // warning: no console input
//! core_log::debug!("not shown");
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod line;

pub use line::Line;
pub use log::{Level, debug, error, info, trace, warn};

use core::fmt::Write as _;
use log::{Log, Metadata, Record};

/// Bytes of the longest line; what is longer is cut.
pub const LINE_LENGTH: usize = 240;

/// Where log lines go.
pub trait Sink: Send + Sync {
    /// Takes one line, which has no line end. Called on any core and in any context.
    fn write_line(&self, line: &str);
}

/// The connection from the logging macros to a sink.
#[derive(Debug)]
pub struct Logger<S> {
    sink: S,
    level: Level,
}

impl<S: Sink> Logger<S> {
    /// A logger that passes lines of `level` and more urgent ones.
    pub const fn new(sink: S, level: Level) -> Self {
        Self { sink, level }
    }

    /// Makes this the logger of the whole image. Only the first one installed counts.
    pub fn install(&'static self)
    where
        S: 'static,
    {
        if log::set_logger(self).is_ok() {
            log::set_max_level(self.level.to_level_filter());
        }
    }
}

impl<S: Sink> Log for Logger<S> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= self.level
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let prefix = match record.level() {
            Level::Error => "error: ",
            Level::Warn => "warning: ",
            Level::Info => "",
            Level::Debug | Level::Trace => "debug: ",
        };
        let mut line = Line::<LINE_LENGTH>::new();
        // A line takes any text; an error can only be one that a `Display` makes up.
        let _ = write!(line, "{prefix}{}", record.args());
        self.sink.write_line(line.as_str());
    }

    fn flush(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Lines(Mutex<Vec<String>>);

    impl Sink for Lines {
        fn write_line(&self, line: &str) {
            self.0.lock().unwrap().push(line.into());
        }
    }

    fn log(logger: &Logger<Lines>, level: Level, text: &str) {
        logger.log(
            &Record::builder()
                .level(level)
                .args(format_args!("{text}"))
                .build(),
        );
    }

    #[test]
    fn lines_say_how_urgent_they_are() {
        let logger = Logger::new(Lines::default(), Level::Info);
        for level in [Level::Error, Level::Warn, Level::Info, Level::Debug] {
            log(&logger, level, "text");
        }
        let lines = logger.sink.0.lock().unwrap();
        assert_eq!(lines[..], ["error: text", "warning: text", "text"]);
    }

    #[test]
    fn a_long_line_is_cut() {
        let logger = Logger::new(Lines::default(), Level::Info);
        log(&logger, Level::Info, &"x".repeat(1000));
        let lines = logger.sink.0.lock().unwrap();
        assert_eq!(lines[0].len(), LINE_LENGTH);
        assert!(lines[0].ends_with("x..."));
    }
}
