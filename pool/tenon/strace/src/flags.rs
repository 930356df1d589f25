//! Flags and signals by their names.

use core::fmt;

/// Names of flags, each with its bits; one without bits stands for no other one.
pub(crate) type Names = &'static [(u32, &'static str)];

/// `O_CREAT`.
pub(crate) const CREATE: u64 = 0o100;

/// Flags of `open` on AArch64; the access mode has two bits.
pub(crate) const OPEN: Names = &[
    (0, "O_RDONLY"),
    (0o1, "O_WRONLY"),
    (0o2, "O_RDWR"),
    (0o100, "O_CREAT"),
    (0o200, "O_EXCL"),
    (0o400, "O_NOCTTY"),
    (0o1000, "O_TRUNC"),
    (0o2000, "O_APPEND"),
    (0o4000, "O_NONBLOCK"),
    (0o4_0000, "O_DIRECTORY"),
    (0o10_0000, "O_NOFOLLOW"),
    (0o40_0000, "O_LARGEFILE"),
    (0o200_0000, "O_CLOEXEC"),
];

/// Protection of memory.
pub(crate) const PROTECTION: Names = &[
    (0, "PROT_NONE"),
    (1, "PROT_READ"),
    (2, "PROT_WRITE"),
    (4, "PROT_EXEC"),
];

/// Flags of `mmap`.
pub(crate) const MAPPING: Names = &[
    (0x01, "MAP_SHARED"),
    (0x02, "MAP_PRIVATE"),
    (0x10, "MAP_FIXED"),
    (0x20, "MAP_ANONYMOUS"),
    (0x800, "MAP_DENYWRITE"),
    (0x4000, "MAP_NORESERVE"),
    (0x2_0000, "MAP_STACK"),
    (0x10_0000, "MAP_FIXED_NOREPLACE"),
];

/// Signals from 1 on.
const SIGNALS: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

/// Writes flags by their names, the rest of them as a number.
pub(crate) fn write(to: &mut impl fmt::Write, names: Names, value: u32) -> fmt::Result {
    /// The bits of the access mode of `open`, of which none is one too.
    const ACCESS: u32 = 3;
    let mut first = true;
    let mut separate = |to: &mut dyn fmt::Write| {
        let separator = if first { "" } else { "|" };
        first = false;
        to.write_str(separator)
    };
    let mut rest = value;
    let access = names.first().is_some_and(|(_, name)| *name == "O_RDONLY");
    for (bits, name) in names {
        let shown = match *bits {
            0 => value == 0 || access && value & ACCESS == 0,
            bits => rest & bits == bits,
        };
        if shown {
            separate(to)?;
            to.write_str(name)?;
            rest &= !bits;
        }
    }
    if rest == 0 {
        return Ok(());
    }
    separate(to)?;
    write!(to, "{rest:#x}")
}

/// Writes the name of a signal, or its number.
pub(crate) fn write_signal(to: &mut impl fmt::Write, value: u64) -> fmt::Result {
    let index = usize::try_from(value).ok().and_then(|n| n.checked_sub(1));
    match index.and_then(|index| SIGNALS.get(index)) {
        Some(name) => to.write_str(name),
        None => write!(to, "{}", value as i32),
    }
}
