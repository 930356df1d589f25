//! Test cases of an application that tests itself on the target.
//!
//! Logic is tested on the host; cases test what depends on the machine. Each case prints a line, `ok` or
//! `FAILED`, and the last line gives the totals. A failed case does not end the run. No allocation.
//!
//! ```
//! use support_cases::{Case, Failure, ensure, expect, run};
//!
//! const CASES: &[Case] = &[("two and two are four", sum)];
//!
//! fn sum() -> Result<(), Failure> {
//!     expect(2 + 2 == 4, "four", 2 + 2)?;
//!     ensure(u8::MAX == 255, "the largest byte to be 255")
//! }
//!
//! assert_eq!(run("arithmetic", CASES), 0);
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use core::fmt;
use core_log::{error, info};

/// A case and its name.
pub type Case = (&'static str, fn() -> Result<(), Failure>);

/// Result of a failed case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    expected: &'static str,
    got: Option<u64>,
}

impl Failure {
    /// A failure with the expected and the actual value.
    #[must_use]
    pub const fn new(expected: &'static str, got: u64) -> Self {
        let got = Some(got);
        Self { expected, got }
    }
}

impl From<&'static str> for Failure {
    fn from(expected: &'static str) -> Self {
        let got = None;
        Self { expected, got }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.expected)?;
        self.got.map_or(Ok(()), |got| write!(f, ", got {got:#x}"))
    }
}

/// Fails unless the condition holds.
///
/// # Errors
///
/// A [`Failure`] that names the expectation.
pub fn ensure(condition: bool, expected: &'static str) -> Result<(), Failure> {
    condition.then_some(()).ok_or(expected.into())
}

/// Fails with what was `got` unless the condition holds.
///
/// # Errors
///
/// A [`Failure`] that names the expectation and the actual value.
pub fn expect(condition: bool, expected: &'static str, got: u64) -> Result<(), Failure> {
    condition.then_some(()).ok_or(Failure::new(expected, got))
}

/// Runs all cases in order; returns the number of failed ones.
pub fn run<'a>(suite: &str, cases: impl IntoIterator<Item = &'a Case>) -> usize {
    let (mut passed, mut failed) = (0, 0);
    for (name, case) in cases {
        match case() {
            Ok(()) => {
                passed += 1;
                info!("ok {name}");
            }
            Err(failure) => {
                failed += 1;
                error!("FAILED {name}: {failure}");
            }
        }
    }
    info!("{suite}: {passed} passed, {failed} failed");
    failed
}

#[cfg(test)]
mod tests {
    use super::{Case, ensure, expect, run};

    #[test]
    fn every_case_is_tried_and_those_that_fail_are_counted() {
        const CASES: &[Case] = &[
            ("passes", || ensure(true, "")),
            ("fails", || expect(false, "one", 2)),
            ("fails too", || Err("something else".into())),
        ];
        assert_eq!(run("some", CASES), 2);
    }

    #[test]
    fn a_failure_says_what_was_expected_and_what_was_there() {
        let text = |outcome: Result<(), super::Failure>| outcome.unwrap_err().to_string();
        assert_eq!(text(expect(false, "one", 16)), "expected one, got 0x10");
        assert_eq!(text(ensure(false, "one")), "expected one");
    }
}
