//! Flags of `openat`, which an open file keeps.

/// `O_ACCMODE`.
pub const ACCESS: u32 = 0b11;
/// `O_RDONLY`.
pub const READ_ONLY: u32 = 0;
/// `O_WRONLY`.
pub const WRITE_ONLY: u32 = 1;
/// `O_CREAT`.
pub const CREATE: u32 = 0o100;
/// `O_EXCL`.
pub const EXCLUSIVE: u32 = 0o200;
/// `O_TRUNC`.
pub const TRUNCATE: u32 = 0o1000;
/// `O_APPEND`.
pub const APPEND: u32 = 0o2000;
/// `O_NONBLOCK`.
pub const NONBLOCK: u32 = 0o4000;
/// `O_DIRECT`.
pub const DIRECT: u32 = 0o20_0000;
/// `O_DIRECTORY`.
pub const DIRECTORY: u32 = 0o4_0000;
/// `O_NOFOLLOW`.
pub const NO_FOLLOW: u32 = 0o10_0000;
/// `O_NOATIME`.
pub const NO_ACCESS_TIME: u32 = 0o100_0000;
/// `O_PATH`.
pub const PATH: u32 = 0o1000_0000;
/// `O_CLOEXEC`.
pub const CLOSE_ON_EXEC: u32 = 0o200_0000;
/// `O_TMPFILE` has `O_DIRECTORY` as well.
pub const TEMPORARY: u32 = 0o2000_0000;
/// `O_LARGEFILE`, which each opened file has.
pub const LARGE: u32 = 0o40_0000;
/// `O_NOCTTY`.
pub const NO_TERMINAL: u32 = 0o400;
/// What concerns the opening alone.
pub const AT_OPEN: u32 = CREATE | EXCLUSIVE | NO_TERMINAL | TRUNCATE | CLOSE_ON_EXEC;
