//! Management of virtual machines from Tenon.
//!
//! # Purpose
//!
//! A VM with `[vm.manages]` in `system.toml` creates others from the system's reserve and controls
//! those that it has authority over; each operation is a hypercall. A [`Vm`] is the handle of one
//! VM until its destruction; later operations return [`Error::NotFound`].
//!
//! # Guarantees
//!
//! An operation returns when its work is complete, and this VM's interrupts are served meanwhile:
//! Mortise interrupts and restarts the hypercall. No lock, no allocation; any thread may call, and
//! concurrent operations on the same VM return [`Error::Busy`].
//!
//! # Example
//!
//! ```no_run
//! use tenon_vm::{Blueprint, Error, Image, Vm};
//!
//! static CODE: Image<64> = Image::new([0; 64]);
//!
//! let blueprint = Blueprint::new("job", 2 << 20, &[2]).entry(0x4000_0000, 0);
//! let job = Vm::create(&blueprint)?;
//! job.load(0x4000_0000, &CODE)?;
//! job.start()?;
//! job.pause()?;
//! job.destroy()?;
//! # Ok::<(), Error>(())
//! ```
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod blueprint;
mod error;
mod image;
mod info;

pub use blueprint::{Blueprint, RAM};
pub use error::Error;
pub use image::{Chunk, GRANULE, Image};
pub use info::{Listed, State, Statistics, Totals};

use hw_arch::firmware::hypercall4;

/// Function numbers of Mortise (`docs/lifecycle.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Function {
    Version = 0xc600_0100,
    Create,
    Load,
    Start,
    Pause,
    Resume,
    Restart,
    Destroy,
    List,
    Statistics,
    ConsoleRead,
    Instantiate,
}

/// Makes a hypercall and returns x1 to x3.
fn ask(function: Function, arguments: [u64; 4]) -> Result<[u64; 3], Error> {
    let [status, x1, x2, x3] = hypercall4(function as u32, arguments);
    Error::check(status).map(|()| [x1, x2, x3])
}

/// Address of an object for Mortise: memory is mapped one to one.
fn address<T: ?Sized>(of: &T) -> u64 {
    core::ptr::from_ref(of).cast::<()>().addr() as u64
}

/// Handle of a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vm(u64);

impl Vm {
    /// Creates a VM from a descriptor, with its memory cleared; it is not started.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::Denied`] or [`Error::NoMemory`].
    pub fn create(blueprint: &Blueprint) -> Result<Self, Error> {
        ask(Function::Create, [address(blueprint.bytes()), 0, 0, 0])
            .map(|[handle, ..]| Self(handle))
    }

    /// Creates a VM from a template of the system and starts it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Denied`], [`Error::NoMemory`], or [`Error::Busy`] if it exists
    /// already.
    pub fn instantiate(template: &str) -> Result<Self, Error> {
        let mut name = [0; 16];
        let room = name.get_mut(..template.len()).ok_or(Error::NotFound)?;
        room.copy_from_slice(template.as_bytes());
        let [low, high] = [0, 8].map(|at| {
            let mut word = [0; 8];
            word.copy_from_slice(name.get(at..at + 8).unwrap_or(&[0; 8]));
            u64::from_le_bytes(word)
        });
        ask(Function::Instantiate, [low, high, 0, 0]).map(|[handle, ..]| Self(handle))
    }

    /// The VM of a handle, whether it exists or not.
    #[must_use]
    pub const fn from_handle(handle: u64) -> Self {
        Self(handle)
    }

    /// The handle's number.
    #[must_use]
    pub const fn handle(&self) -> u64 {
        self.0
    }

    /// Copies an image to address `target` of a VM that is created and not started.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it does not fit there, [`Error::Busy`] in another state.
    pub fn load<const N: usize>(&self, target: u64, image: &Image<N>) -> Result<(), Error> {
        self.load_from(target, address(image.bytes()), N)
    }

    /// Copies an image of granules to address `target`, as [`load`](Self::load) does.
    ///
    /// # Errors
    ///
    /// Those of [`load`](Self::load).
    pub fn load_chunks(&self, target: u64, image: &[Chunk]) -> Result<(), Error> {
        self.load_from(target, address(image), size_of_val(image))
    }

    fn load_from(&self, target: u64, from: u64, bytes: usize) -> Result<(), Error> {
        self.ask(Function::Load, [target, from, bytes as u64])
            .map(drop)
    }

    /// Starts it.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if it is not in the state created.
    pub fn start(&self) -> Result<(), Error> {
        self.ask(Function::Start, [0; 3]).map(drop)
    }

    /// Pauses it. When this returns, none of its vCPUs is running.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if it is not running.
    pub fn pause(&self) -> Result<(), Error> {
        self.ask(Function::Pause, [0; 3]).map(drop)
    }

    /// Resumes it.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if it is not paused.
    pub fn resume(&self) -> Result<(), Error> {
        self.ask(Function::Resume, [0; 3]).map(drop)
    }

    /// Restarts it. Returns true if it runs, and false if Mortise does not hold its image: it is in
    /// the state created, to be loaded and started.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if it was never started.
    pub fn restart(&self) -> Result<bool, Error> {
        let [reload, ..] = self.ask(Function::Restart, [0; 3])?;
        Ok(reload == 0)
    }

    /// Destroys it. Its memory returns to the reserve, cleared; the memory of a VM of the system
    /// stays unused.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if it does not exist.
    pub fn destroy(&self) -> Result<(), Error> {
        self.ask(Function::Destroy, [0; 3]).map(drop)
    }

    /// Its statistics.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if it does not exist.
    pub fn statistics(&self) -> Result<Statistics, Error> {
        let page = info::Page::new();
        self.ask(Function::Statistics, [address(&page), info::SIZE as u64, 0])?;
        Ok(page.read())
    }

    /// Moves its pending console output to a buffer; returns the number of bytes.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if it does not exist.
    pub fn read_console(&self, into: &mut info::Text) -> Result<usize, Error> {
        self.read_console_at_most(into, info::TEXT)
    }

    /// As [`read_console`](Self::read_console) with a maximum number of bytes, rounded down to eights; the others stay pending.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if it does not exist.
    pub fn read_console_at_most(&self, into: &mut info::Text, most: usize) -> Result<usize, Error> {
        let size = most.min(info::TEXT) as u64;
        let [count, ..] = self.ask(Function::ConsoleRead, [address(into), size, 0])?;
        Ok(count as usize)
    }

    fn ask(&self, function: Function, [x2, x3, x4]: [u64; 3]) -> Result<[u64; 3], Error> {
        ask(function, [self.0, x2, x3, x4])
    }
}

pub use info::Text;
