//! System calls of Linux for programs of AArch64.
//!
//! | module | calls |
//! |---|---|
//! | [`file`] | opening files, descriptors |
//! | [`copy`] | copies between descriptors |
//! | [`event`] | waiting for several descriptors, counters |
//! | [`names`] | names of files: directories, links, renaming |
//! | [`status`] | attributes of files: status, size, permissions, times |
//! | [`transfer`] | reading and writing: files, pipes, console |
//! | [`memory`] | `brk`, mappings |
//! | [`process`] | creation of processes and threads, programs, end |
//! | [`identity`] | numbers, names, limits, use of memory |
//! | [`sync`] | futexes |
//! | [`time`] | clocks, sleep |
//! | [`signal`] | what programs set; no signal is delivered |
//!
//! `docs/linux-abi.md` lists each call with what it does not do. Numbers and structures are those of
//! Linux for AArch64 (`uapi/asm-generic`).

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod copy;
pub mod event;
pub mod file;
pub mod identity;
pub mod memory;
pub mod names;
pub mod process;
pub mod signal;
pub mod status;
pub mod sync;
pub mod time;
pub mod transfer;
mod user;

use tenon_process::{Call, Calls};

/// All calls of this library.
pub static CALLS: Calls = Calls(&[
    Call(17, names::getcwd),
    Call(19, event::eventfd2),
    Call(23, file::dup),
    Call(24, file::dup3),
    Call(25, file::fcntl),
    Call(29, transfer::ioctl),
    Call(33, names::mknodat),
    Call(34, names::mkdirat),
    Call(35, names::unlinkat),
    Call(36, names::symlinkat),
    Call(37, names::linkat),
    Call(38, names::renameat),
    Call(43, status::statfs),
    Call(44, status::fstatfs),
    Call(45, status::truncate),
    Call(46, status::ftruncate),
    Call(47, status::fallocate),
    Call(48, names::faccessat),
    Call(49, names::chdir),
    Call(50, file::fchdir),
    Call(52, status::fchmod),
    Call(53, status::fchmodat),
    Call(54, status::fchownat),
    Call(55, status::fchown),
    Call(56, file::openat),
    Call(57, file::close),
    Call(59, file::pipe2),
    Call(61, file::getdents64),
    Call(62, transfer::lseek),
    Call(63, transfer::read),
    Call(64, transfer::write),
    Call(65, transfer::readv),
    Call(66, transfer::writev),
    Call(67, transfer::pread64),
    Call(68, transfer::pwrite64),
    Call(69, transfer::preadv),
    Call(70, transfer::pwritev),
    Call(71, copy::sendfile),
    Call(72, event::pselect6),
    Call(73, event::ppoll),
    Call(78, names::readlinkat),
    Call(79, status::newfstatat),
    Call(80, status::fstat),
    Call(81, status::sync),
    Call(82, status::fsync),
    Call(83, status::fsync),
    Call(88, status::utimensat),
    Call(93, process::exit),
    Call(94, process::exit_group),
    Call(96, process::set_tid_address),
    Call(98, sync::futex),
    Call(99, sync::set_robust_list),
    Call(100, sync::get_robust_list),
    Call(101, time::nanosleep),
    Call(113, time::clock_gettime),
    Call(114, time::clock_getres),
    Call(115, time::clock_nanosleep),
    Call(124, time::sched_yield),
    Call(132, signal::sigaltstack),
    Call(134, signal::rt_sigaction),
    Call(135, signal::rt_sigprocmask),
    Call(160, identity::uname),
    Call(166, identity::umask),
    Call(167, identity::prctl),
    Call(169, time::gettimeofday),
    Call(172, identity::getpid),
    Call(173, identity::getppid),
    Call(174, identity::zero),
    Call(175, identity::zero),
    Call(176, identity::zero),
    Call(177, identity::zero),
    Call(178, identity::gettid),
    Call(179, identity::sysinfo),
    Call(214, memory::brk),
    Call(215, memory::munmap),
    Call(220, process::clone),
    Call(221, process::execve),
    Call(222, memory::mmap),
    Call(226, memory::mprotect),
    Call(233, memory::madvise),
    Call(260, process::wait4),
    Call(261, identity::prlimit64),
    Call(276, names::renameat2),
    Call(278, identity::getrandom),
    Call(285, copy::copy_file_range),
    Call(291, status::statx),
    Call(293, identity::absent),
    Call(435, process::clone3),
    Call(436, file::close_range),
    Call(439, names::faccessat),
]);
