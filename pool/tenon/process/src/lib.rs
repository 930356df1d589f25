//! Processes: programs at exception level EL0 with address spaces of their own.
//!
//! [`start`] takes the memory of the VM beyond the image and starts the first process from a file of
//! the archive in the image; [`start_first`] takes the program that the system states. Processes
//! create others, replace their program and end; libraries serve their system calls by functions
//! that they register in the table `system_call` ([`Call`]).
//!
//! A process has one thread or several, which share all it has. Each is a thread of Tenon: it is
//! preempted at any instruction, in a system call too, and the scheduler has no other order than that
//! of priorities. State of processes is behind one mutex with priority inheritance ([`with_state`]),
//! which threads of the application never acquire.
//!
//! Guarantees: a process reaches memory of its own address space only; the kernel uses no address
//! that a process states. What a process asks for and cannot get is an error for that process. No
//! interrupt is masked for longer than a switch between threads takes. See
//! `docs/decisions/processes.md`.

#![cfg_attr(not(test), no_std)]
#![expect(unsafe_code, reason = "execution at EL0, memory beyond the image")]

// Provides the functions by which the compiler moves bytes.
use core_memcpy as _;

mod call;
mod execution;
mod state;
pub mod user_memory;

pub use call::{BEGUN, Call, Caller, Calls, Function, disjoint, table};
pub use state::{AtEnd, State, wait_on, with_state};
pub use tenon_address_space::Access;
pub use tenon_credentials::{
    Credentials, EXECUTE, GROUPS, Ids, Limit, Limits, READ, UNLIMITED, Usage, WRITE, capability,
    has_share, resource,
};
pub use tenon_files::{
    Description, Descriptor, Descriptors, End as PipeEnd, FileReference, Files, Locks, Memory,
    Object, Observer, Operations, PIPE_BUF, Ring, Side, Special, Step, Transfer, Vector, ready,
};
pub use tenon_frames::{Frames, Table as Objects};
pub use tenon_process_slot::first::First;
pub use tenon_process_slot::{
    Change, Children, End, Key, NAME, NewThread, Process, Service, Slot, Stack, Thread, Waiting,
    WakeOperation, Wanted, served, serves, slots_of, table_size,
};
pub use tenon_process_slot::{
    nanoseconds, real_nanoseconds, real_time, real_time_of_start, set_real_time,
};
pub use tenon_program::{Errno, Space, Start, Strings, timespec};
pub use tenon_schedule as schedule;
pub use tenon_signal::Target;

use core::fmt;
use tenon_entropy::{Generator, source};
use tenon_thread::environment::{self, MapError};
use tenon_user as user;

/// Error of the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The VM has no memory beyond the image.
    NoMemory,
    /// That memory cannot be mapped.
    Map(MapError),
    /// The first program cannot be started.
    Program(Errno),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMemory => f.write_str("the VM has no memory beyond its image: raise `memory`"),
            Self::Map(error) => error.fmt(f),
            Self::Program(error) => write!(f, "the first program cannot be started: {error}"),
        }
    }
}

impl core::error::Error for Error {}

/// Starts the first process that the system states. Once in an image.
pub fn start_first() -> Result<u32, Error> {
    let first = tenon_process_slot::first::of_system();
    let started = start(first.program, first.arguments, first.environment);
    if let Err(error) = &started
        && first.ends_vm
    {
        state::report(format_args!("{} has not started: {error}", first.program));
        tenon_process_slot::first::end_vm();
    }
    started
}

/// Starts a program as the first process, with arguments and environment. Once in an image.
pub fn start(path: &str, arguments: &[&str], environment: &[&str]) -> Result<u32, Error> {
    let memory = environment::map_spare_memory().map_err(Error::Map)?;
    let memory = memory.ok_or(Error::NoMemory)?;
    let entries = environment::kernel_entries().map_err(Error::Map)?;
    // SAFETY: the memory is mapped one to one, and of this call alone.
    unsafe { State::install(memory, archive()) }.map_err(Error::Program)?;
    with_state(|state| seed(&mut state.entropy));
    // SAFETY: the entries are the kernel's own, without access from EL0; its devices are mapped.
    let root = with_state(|state| unsafe { state.set_kernel(entries) });
    // SAFETY: the root maps what the kernel's own does, and is never released.
    unsafe { user::use_root(root.map_err(Error::Program)?) };
    user::prepare_core();
    tenon_process_slot::prepare_vdso();
    let started = with_state(|state| {
        state.strings.clear();
        for (strings, environment) in [(arguments, false), (environment, true)] {
            for string in strings {
                state.strings.push(string.as_bytes(), environment)?;
            }
        }
        state.start(path)
    });
    started.map_err(Error::Program)
}

/// Seeds a generator by the hypervisor; without a source, addresses vary by the time alone.
fn seed(generator: &mut Generator) {
    let time: u64 = hw_arch::read_register!("cntvct_el0");
    generator.add(&time.to_le_bytes());
    if let Some(seed) = source::seed(tenon_thread::options::memory_end() == 0) {
        generator.seed(&seed);
    }
}

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `statics!` defines it with this type, and no code writes it.
    safe static TENON_PROCESS_ROOT: &'static [u8];
}

/// The archive of files in the image.
fn archive() -> &'static [u8] {
    #[cfg(target_os = "none")]
    return TENON_PROCESS_ROOT;
    #[cfg(not(target_os = "none"))]
    return &[];
}

/// Defines the static objects of processes in an image: storage of threads, the table of system
/// calls, of all or of the chosen ones, the archive with the file tree, the first process.
#[macro_export]
macro_rules! statics {
    (
        config: $config:path,
        tables: $tables:path,
        root: $root:expr,
        program: $program:expr,
        arguments: $arguments:expr,
        environment: $environment:expr,
        calls: $calls:expr $(,)?
    ) => {
        mod tenon_process_statics {
            use $config as config;
            use $tables as tables;

            static STACKS: [$crate::Stack; config::TENON_PROCESS_THREADS] =
                [const { $crate::Stack::new() }; config::TENON_PROCESS_THREADS];
            static SLOTS: [$crate::Slot; config::TENON_PROCESS_THREADS] = $crate::slots_of(&STACKS);
            #[unsafe(no_mangle)]
            static TENON_PROCESS_LIMIT: usize = config::TENON_PROCESS_COUNT;
            #[unsafe(no_mangle)]
            static TENON_PROCESS_SLOTS: &[$crate::Slot] = &SLOTS;
            static CALLS: [Option<$crate::Function>; $crate::table_size($calls)] =
                $crate::table(tables::SYSTEM_CALL, $calls);
            #[unsafe(no_mangle)]
            static TENON_SYSTEM_CALLS: &[Option<$crate::Function>] = &CALLS;
            #[unsafe(no_mangle)]
            static TENON_PROCESS_SERVED: [u64; 8] = $crate::served(&CALLS);
            #[unsafe(no_mangle)]
            static TENON_PROCESS_ROOT: &[u8] = $root;
            #[unsafe(no_mangle)]
            static TENON_PROCESS_FIRST: $crate::First = $crate::First {
                program: $program,
                arguments: $arguments,
                environment: $environment,
                ends_vm: config::TENON_PROCESS_ENDS_VM,
            };
            #[unsafe(no_mangle)]
            static TENON_PROCESS_DESCRIPTORS: u32 = config::TENON_PROCESS_DESCRIPTORS as u32;
        }
    };
}

#[cfg(test)]
mod tests;
