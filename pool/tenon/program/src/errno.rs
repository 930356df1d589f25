//! [`Errno`]: error numbers of Linux.

use core::fmt;
use tenon_address_space as space;

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident = $number:literal;)*) => {
        impl Errno {
            $($(#[$doc])* pub const $name: Self = Self($number);)*
        }

        impl fmt::Display for Errno {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match *self {
                    $(Self::$name => stringify!($name),)*
                    _ => "an unknown error",
                })
            }
        }
    };
}

/// An error number, as a system call returns it (negated).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub u16);

numbers! {
    /// Operation not permitted.
    EPERM = 1;
    /// No such file.
    ENOENT = 2;
    /// No such process.
    ESRCH = 3;
    /// Interrupted.
    EINTR = 4;
    /// An input or output error.
    EIO = 5;
    /// No such device.
    ENXIO = 6;
    /// The argument list is too long.
    E2BIG = 7;
    /// No program.
    ENOEXEC = 8;
    /// No such file descriptor.
    EBADF = 9;
    /// No child process.
    ECHILD = 10;
    /// Not now.
    EAGAIN = 11;
    /// No memory.
    ENOMEM = 12;
    /// Permission denied.
    EACCES = 13;
    /// Bad address.
    EFAULT = 14;
    /// In use.
    EBUSY = 16;
    /// The file exists.
    EEXIST = 17;
    /// The file is on another file system.
    EXDEV = 18;
    /// No such operation of the device.
    ENODEV = 19;
    /// No directory.
    ENOTDIR = 20;
    /// A directory.
    EISDIR = 21;
    /// Invalid argument.
    EINVAL = 22;
    /// Too many open files in the system.
    ENFILE = 23;
    /// Too many open files of the process.
    EMFILE = 24;
    /// No terminal.
    ENOTTY = 25;
    /// A file that is executed or written.
    ETXTBSY = 26;
    /// The file is too large.
    EFBIG = 27;
    /// No memory for files.
    ENOSPC = 28;
    /// No position in a pipe.
    ESPIPE = 29;
    /// Read-only file system.
    EROFS = 30;
    /// Pipe without a reader.
    EPIPE = 32;
    /// Outside of the domain.
    EDOM = 33;
    /// Result too large.
    ERANGE = 34;
    /// A deadlock.
    EDEADLK = 35;
    /// Name too long.
    ENAMETOOLONG = 36;
    /// No locks.
    ENOLCK = 37;
    /// No such system call.
    ENOSYS = 38;
    /// The directory is not empty.
    ENOTEMPTY = 39;
    /// Too many symbolic links.
    ELOOP = 40;
    /// Interrupted: the call is made again, unless a handler without `SA_RESTART` is called. No
    /// process sees this number and the next ones.
    ERESTARTSYS = 512;
    /// Interrupted: the call is made again.
    ERESTARTNOINTR = 513;
    /// Interrupted: the call is made again, unless a handler is called.
    ERESTARTNOHAND = 514;
    /// As `ERESTARTNOHAND`, with the deadline that it had.
    ERESTART_RESTARTBLOCK = 516;
    /// No data: no such attribute.
    ENODATA = 61;
    /// Too large for its type.
    EOVERFLOW = 75;
    /// A handle of a file that has ended.
    ESTALE = 116;
    /// No socket.
    ENOTSOCK = 88;
    /// No destination.
    EDESTADDRREQ = 89;
    /// The message is too long.
    EMSGSIZE = 90;
    /// Another type of socket.
    EPROTOTYPE = 91;
    /// No such option.
    ENOPROTOOPT = 92;
    /// No such protocol.
    EPROTONOSUPPORT = 93;
    /// No such type of socket.
    ESOCKTNOSUPPORT = 94;
    /// Operation not supported.
    EOPNOTSUPP = 95;
    /// No such family of addresses.
    EAFNOSUPPORT = 97;
    /// The address is in use.
    EADDRINUSE = 98;
    /// The connection was reset.
    ECONNRESET = 104;
    /// No buffer.
    ENOBUFS = 105;
    /// Connected already.
    EISCONN = 106;
    /// Not connected.
    ENOTCONN = 107;
    /// Too many descriptors are passed.
    ETOOMANYREFS = 109;
    /// Timed out.
    ETIMEDOUT = 110;
    /// The connection was refused.
    ECONNREFUSED = 111;
    /// Under way already.
    EALREADY = 114;
    /// Under way.
    EINPROGRESS = 115;
}

impl Errno {
    /// Whether a signal has interrupted the call.
    #[must_use]
    pub const fn is_interruption(self) -> bool {
        matches!(
            self,
            Self::EINTR
                | Self::ERESTARTSYS
                | Self::ERESTARTNOINTR
                | Self::ERESTARTNOHAND
                | Self::ERESTART_RESTARTBLOCK
        )
    }

    /// The error of a call that a signal has interrupted, `as_interrupted` in its place.
    #[must_use]
    pub const fn interrupted(self, as_interrupted: Self) -> Self {
        if self.0 == Self::ERESTARTSYS.0 {
            as_interrupted
        } else {
            self
        }
    }
}

impl core::error::Error for Errno {}

impl From<space::Denied> for Errno {
    fn from(denied: space::Denied) -> Self {
        match denied {
            space::Denied::NoMemory => Self::ENOMEM,
            space::Denied::NoArea | space::Denied::Permission | space::Denied::BeyondEnd => {
                Self::EFAULT
            }
        }
    }
}

impl From<space::Error> for Errno {
    fn from(error: space::Error) -> Self {
        match error {
            space::Error::NoMemory | space::Error::Occupied => Self::ENOMEM,
            space::Error::Range => Self::EINVAL,
            space::Error::WritableCode => Self::EACCES,
        }
    }
}

impl From<tenon_vfs::FileError> for Errno {
    fn from(error: tenon_vfs::FileError) -> Self {
        use tenon_vfs::FileError as Error;
        match error {
            Error::NotFound => Self::ENOENT,
            Error::Exists => Self::EEXIST,
            Error::NotDirectory => Self::ENOTDIR,
            Error::IsDirectory => Self::EISDIR,
            Error::NotEmpty => Self::ENOTEMPTY,
            Error::Name => Self::ENAMETOOLONG,
            Error::NoSpace => Self::ENOSPC,
            Error::TooLarge => Self::EFBIG,
            Error::Invalid => Self::EINVAL,
        }
    }
}

impl From<tenon_vfs::Error> for Errno {
    fn from(error: tenon_vfs::Error) -> Self {
        match error {
            tenon_vfs::Error::File(error) => error.into(),
            tenon_vfs::Error::Loop => Self::ELOOP,
            tenon_vfs::Error::TooLong => Self::ENAMETOOLONG,
            tenon_vfs::Error::Denied => Self::EACCES,
            tenon_vfs::Error::Crossed => Self::EXDEV,
            tenon_vfs::Error::Stale(_) => Self::ENOENT,
        }
    }
}
