//! Flags of `mq_open`, as picolibc's `<fcntl.h>` defines them.

use core::ffi::c_int;

pub(crate) const READ_ONLY: c_int = 0;
pub(crate) const WRITE_ONLY: c_int = 1;
pub(crate) const READ_WRITE: c_int = 2;
pub(crate) const ACCESS: c_int = 3;
pub(crate) const CREATE: c_int = 0x40;
pub(crate) const EXCLUSIVE: c_int = 0x800;
pub(crate) const NON_BLOCKING: c_int = 0x4000;
