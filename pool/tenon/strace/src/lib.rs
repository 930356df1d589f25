//! System calls of processes as text, in the form of strace(1).
//!
//! [`begin`] writes the name and the arguments of a call, before it is served: a successful `execve`
//! has no memory with its arguments any more. [`end`] appends the result. Strings and bytes that are
//! written come from the memory of the process by a function of the caller; what cannot be read is
//! shown as an address.
//!
//! Guarantees: a call is one line of at most [`LENGTH`] bytes, truncated beyond, with at most
//! [`SHOWN`] bytes of a string; what a process states is escaped. No allocation.
//!
//! ```
//! use tenon_strace::{Outcome, begin, end};
//!
//! let mut line = begin(57, &[3, 0, 0, 0, 0, 0], |_, _, _| None);
//! end(&mut line, 57, &Outcome::Value(0));
//! assert_eq!(line.as_str(), "close(3) = 0");
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod calls;
mod flags;

use core::fmt::{self, Write as _};
use core_log::Line;

/// Bytes of a line.
pub const LENGTH: usize = 200;
/// Bytes of a string that are shown, as in strace.
pub const SHOWN: usize = 32;
/// Descriptor of the current directory.
const AT_FDCWD: i32 = -100;

/// A call that becomes a line.
pub type Call = Line<LENGTH>;

/// Kind of an argument: how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `f`: a file descriptor.
    Descriptor,
    /// `i`: an `int`.
    Int,
    /// `l`: a `long`.
    Long,
    /// `u`: a size.
    Size,
    /// `o`: permissions.
    Octal,
    /// `p`: an address.
    Address,
    /// `s`: a string.
    Text,
    /// `w`: bytes, as many as the next argument says.
    Bytes,
    /// `O`, `P`, `M`: flags of `open`, protection and flags of `mmap`.
    Named(flags::Names),
    /// `S`: a signal.
    Signal,
    /// `x`: anything else.
    Hexadecimal,
}

impl Kind {
    fn of(letter: u8) -> Self {
        match letter {
            b'f' => Self::Descriptor,
            b'i' => Self::Int,
            b'l' => Self::Long,
            b'u' => Self::Size,
            b'o' => Self::Octal,
            b'p' => Self::Address,
            b's' => Self::Text,
            b'w' => Self::Bytes,
            b'O' => Self::Named(flags::OPEN),
            b'P' => Self::Named(flags::PROTECTION),
            b'M' => Self::Named(flags::MAPPING),
            b'S' => Self::Signal,
            _ => Self::Hexadecimal,
        }
    }
}

/// Result of a call.
#[derive(Clone, Copy)]
#[expect(
    missing_debug_implementations,
    reason = "an error is known by its text alone"
)]
pub enum Outcome<'a> {
    /// A value.
    Value(u64),
    /// The name of an error.
    Error(&'a dyn fmt::Display),
    /// The call does not return.
    None,
}

/// The name of a call.
#[must_use]
pub fn name(number: u64) -> Option<&'static str> {
    signature(number).map(|(_, name, _)| *name)
}

fn signature(number: u64) -> Option<&'static calls::Signature> {
    let found = calls::CALLS.binary_search_by_key(&number, |(number, ..)| u64::from(*number));
    found.ok().and_then(|index| calls::CALLS.get(index))
}

/// A call with its arguments. `read` copies memory of the process from an address, up to a NUL if
/// its last argument is true, and returns how many bytes there are.
#[must_use]
pub fn begin(
    number: u64,
    arguments: &[u64; 6],
    read: impl FnMut(u64, &mut [u8], bool) -> Option<usize>,
) -> Call {
    let mut line = Call::new();
    // Writing to a `Line` never fails: it truncates.
    let _ = write_call(&mut line, number, arguments, read);
    line
}

fn write_call(
    line: &mut Call,
    number: u64,
    arguments: &[u64; 6],
    mut read: impl FnMut(u64, &mut [u8], bool) -> Option<usize>,
) -> fmt::Result {
    let Some((_, name, kinds)) = signature(number) else {
        write!(line, "syscall_{number:#x}(")?;
        for (index, value) in arguments.iter().enumerate() {
            write!(line, "{}{value:#x}", if index > 0 { ", " } else { "" })?;
        }
        return line.write_str(")");
    };
    write!(line, "{name}(")?;
    let mut creates = true;
    for (index, letter) in kinds.bytes().enumerate() {
        let kind = Kind::of(letter);
        if kind == Kind::Octal && !creates {
            // `open` has permissions only for a file that it creates.
            break;
        }
        if index > 0 {
            line.write_str(", ")?;
        }
        let value = arguments.get(index).copied().unwrap_or(0);
        match kind {
            Kind::Descriptor if value as i32 == AT_FDCWD => line.write_str("AT_FDCWD")?,
            Kind::Descriptor | Kind::Int => write!(line, "{}", value as i32)?,
            Kind::Long => write!(line, "{}", value as i64)?,
            Kind::Size => write!(line, "{value}")?,
            Kind::Octal => write!(line, "0{:o}", value as u32)?,
            Kind::Address if value == 0 => line.write_str("NULL")?,
            Kind::Address | Kind::Hexadecimal => write!(line, "{value:#x}")?,
            Kind::Named(names) => {
                creates = letter != b'O' || value & flags::CREATE != 0;
                flags::write(line, names, value as u32)?;
            }
            Kind::Signal => flags::write_signal(line, value)?,
            Kind::Text => {
                let mut bytes = [0; SHOWN + 1];
                let length = read(value, &mut bytes, true);
                write_string(line, value, length.and_then(|n| bytes.get(..n)), SHOWN)?;
            }
            Kind::Bytes => {
                let size = arguments.get(index + 1).copied().unwrap_or(0);
                let mut bytes = [0; SHOWN + 1];
                let most = size.min(bytes.len() as u64) as usize;
                let length = read(value, &mut bytes[..most], false);
                write_string(line, value, length.and_then(|n| bytes.get(..n)), SHOWN)?;
            }
        }
    }
    line.write_str(")")
}

/// Writes a string of a process in quotes, or its address if there are no bytes.
fn write_string(line: &mut Call, at: u64, bytes: Option<&[u8]>, most: usize) -> fmt::Result {
    let Some(bytes) = bytes else {
        return match at {
            0 => line.write_str("NULL"),
            _ => write!(line, "{at:#x}"),
        };
    };
    line.write_str("\"")?;
    for byte in bytes.iter().take(most) {
        match byte {
            b'\n' => line.write_str("\\n")?,
            b'\r' => line.write_str("\\r")?,
            b'\t' => line.write_str("\\t")?,
            b'"' => line.write_str("\\\"")?,
            b'\\' => line.write_str("\\\\")?,
            b' '..=b'~' => line.write_char(char::from(*byte))?,
            _ => write!(line, "\\{byte:o}")?,
        }
    }
    line.write_str(if bytes.len() > most { "\"..." } else { "\"" })
}

/// Appends the result of a call.
pub fn end(line: &mut Call, number: u64, outcome: &Outcome<'_>) {
    const RETURN_ADDRESSES: [&str; 4] = ["brk", "mmap", "mremap", "shmat"];
    let addresses = name(number).is_some_and(|name| RETURN_ADDRESSES.contains(&name));
    // Writing to a `Line` never fails: it truncates.
    let _ = match outcome {
        Outcome::Value(value) if addresses => write!(line, " = {value:#x}"),
        Outcome::Value(value) => write!(line, " = {}", *value as i64),
        Outcome::Error(error) => write!(line, " = -1 {error}"),
        Outcome::None => line.write_str(" = ?"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(from: u64, to: &mut [u8], string: bool) -> Option<usize> {
        let content = b"/etc/words\0 and\n\x01more than what is shown of a string";
        let content = content.get(from.checked_sub(0x1000)? as usize..)?;
        let count = to.len().min(content.len());
        to[..count].copy_from_slice(&content[..count]);
        let end = to[..count].iter().position(|byte| string && *byte == 0);
        Some(end.unwrap_or(count))
    }

    fn line(number: u64, arguments: [u64; 6], outcome: Outcome<'_>) -> String {
        let mut line = begin(number, &arguments, memory);
        end(&mut line, number, &outcome);
        line.as_str().to_owned()
    }

    const CWD: u64 = -100i64 as u64;

    #[test]
    fn calls_are_by_number() {
        assert!(calls::CALLS.is_sorted_by(|one, next| one.0 < next.0));
        assert_eq!(name(63), Some("read"));
        assert_eq!(name(221), Some("execve"));
        assert_eq!(name(500), None);
    }

    #[test]
    fn kinds_have_letters_and_at_most_six() {
        for (_, name, kinds) in calls::CALLS {
            assert!(kinds.len() <= 6, "{name}");
            let known = kinds.chars().all(|letter| "filuopswOPMSx".contains(letter));
            assert!(known, "{name} has {kinds}");
        }
    }

    #[test]
    fn a_call_has_the_form_of_strace() {
        let open = line(56, [CWD, 0x1000, 0o2000000, 0, 0, 0], Outcome::Value(3));
        assert_eq!(
            open,
            "openat(AT_FDCWD, \"/etc/words\", O_RDONLY|O_CLOEXEC) = 3"
        );
        let create = line(56, [CWD, 0x1000, 0o101, 0o644, 0, 0], Outcome::Value(3));
        assert_eq!(
            create,
            "openat(AT_FDCWD, \"/etc/words\", O_WRONLY|O_CREAT, 0644) = 3"
        );
        let map = line(
            222,
            [0, 4096, 3, 0x22, u64::MAX, 0],
            Outcome::Value(0x10_0000_0000),
        );
        assert_eq!(
            map,
            "mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0x0) = \
             0x1000000000"
        );
        let kill = line(129, [7, 9, 0, 0, 0, 0], Outcome::Error(&"ESRCH"));
        assert_eq!(kill, "kill(7, SIGKILL) = -1 ESRCH");
        assert_eq!(
            line(94, [2, 0, 0, 0, 0, 0], Outcome::None),
            "exit_group(2) = ?"
        );
    }

    #[test]
    fn bytes_are_escaped_and_cut() {
        let written = line(64, [1, 0x100a, 100, 0, 0, 0], Outcome::Value(100));
        assert_eq!(
            written,
            "write(1, \"\\0 and\\n\\1more than what is shown o\"..., 100) = 100"
        );
        let unreadable = line(64, [1, 0x10, 4, 0, 0, 0], Outcome::Error(&"EFAULT"));
        assert_eq!(unreadable, "write(1, 0x10, 4) = -1 EFAULT");
    }

    #[test]
    fn an_unknown_call_has_its_number() {
        let text = line(500, [1, 2, 3, 4, 5, 6], Outcome::Error(&"ENOSYS"));
        assert_eq!(
            text,
            "syscall_0x1f4(0x1, 0x2, 0x3, 0x4, 0x5, 0x6) = -1 ENOSYS"
        );
    }

    #[test]
    fn a_long_line_is_cut() {
        let long = "x".repeat(400);
        assert!(line(57, [0; 6], Outcome::Error(&long)).len() <= LENGTH);
    }
}
