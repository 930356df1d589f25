//! Virtual machines, made and managed from Tenon.
//!
//! # Purpose
//!
//! A VM that has `[vm.manages]` in `system.toml` makes others from the system's reserve and has its way
//! with those that it is given authority over: a call to Mortise each. A [`Vm`] names one life of a
//! virtual machine; what is done to one that is no more is [`Error::NotFound`].
//!
//! # Guarantees
//!
//! A call takes as long as its work, in which this VM's interrupts are served: Mortise lets the call be
//! made again. No lock, no allocation; any thread may call, and two that have their way with the same
//! VM at once get [`Error::Busy`].
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
mod told;

pub use blueprint::{Blueprint, RAM};
pub use error::Error;
pub use image::{Chunk, GRAIN, Image};
pub use told::{Listed, State, Statistics, Totals};

use hw_arch::firmware::ask_hypervisor;

/// Functions of Mortise's (`docs/lifecycle.md`).
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

/// Asks Mortise, and returns x1 to x3.
fn ask(function: Function, arguments: [u64; 4]) -> Result<[u64; 3], Error> {
    let [status, x1, x2, x3] = ask_hypervisor(function as u32, arguments);
    Error::check(status).map(|()| [x1, x2, x3])
}

/// Where something is, for Mortise: memory is mapped one to one.
fn address<T: ?Sized>(of: &T) -> u64 {
    core::ptr::from_ref(of).cast::<()>().addr() as u64
}

/// A virtual machine, or what is left of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vm(u64);

impl Vm {
    /// Makes one as described. It has its memory, filled with zeros, and does not run.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::Denied`] or [`Error::NoMemory`].
    pub fn create(blueprint: &Blueprint) -> Result<Self, Error> {
        ask(Function::Create, [address(blueprint.bytes()), 0, 0, 0])
            .map(|[handle, ..]| Self(handle))
    }

    /// Makes one of a template of the system, and has it run.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Denied`], [`Error::NoMemory`], or [`Error::Busy`] if there is one.
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

    /// The virtual machine of this handle, whether there is one or not.
    #[must_use]
    pub const fn from_handle(handle: u64) -> Self {
        Self(handle)
    }

    /// By what Mortise knows it.
    #[must_use]
    pub const fn handle(&self) -> u64 {
        self.0
    }

    /// Copies an image to address `target` of one that was made and does not run yet.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it does not fit there, [`Error::Busy`] in another state.
    pub fn load<const N: usize>(&self, target: u64, image: &Image<N>) -> Result<(), Error> {
        self.load_from(target, address(image.bytes()), N)
    }

    /// Copies an image that lies in chunks to address `target`, as [`load`](Self::load) does.
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

    /// Has it run.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if it was not made just now.
    pub fn start(&self) -> Result<(), Error> {
        self.ask(Function::Start, [0; 3]).map(drop)
    }

    /// Keeps it from running. When this returns, none of its vCPUs has a core.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if it does not run.
    pub fn pause(&self) -> Result<(), Error> {
        self.ask(Function::Pause, [0; 3]).map(drop)
    }

    /// Lets it go on.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if it is not paused.
    pub fn resume(&self) -> Result<(), Error> {
        self.ask(Function::Resume, [0; 3]).map(drop)
    }

    /// Has it run from its beginning. True: it does. False: Mortise has not its image; it is as it was
    /// made, to be loaded and started.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if it never ran.
    pub fn restart(&self) -> Result<bool, Error> {
        let [reload, ..] = self.ask(Function::Restart, [0; 3])?;
        Ok(reload == 0)
    }

    /// Has it be no more. Its memory goes back to the reserve, filled with zeros; nobody has that of one
    /// that the system began with.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if it is no more.
    pub fn destroy(&self) -> Result<(), Error> {
        self.ask(Function::Destroy, [0; 3]).map(drop)
    }

    /// What it is and did.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if it is no more.
    pub fn statistics(&self) -> Result<Statistics, Error> {
        let page = told::Page::new();
        self.ask(Function::Statistics, [address(&page), told::SIZE as u64, 0])?;
        Ok(page.read())
    }

    /// Moves what it printed lately into words, and says how many bytes.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if it is no more.
    pub fn read_console(&self, into: &mut told::Text) -> Result<usize, Error> {
        self.read_console_at_most(into, told::TEXT)
    }

    /// The same for so many bytes at most, in eights; the others are there still.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if it is no more.
    pub fn read_console_at_most(&self, into: &mut told::Text, most: usize) -> Result<usize, Error> {
        let size = most.min(told::TEXT) as u64;
        let [count, ..] = self.ask(Function::ConsoleRead, [address(into), size, 0])?;
        Ok(count as usize)
    }

    fn ask(&self, function: Function, [x2, x3, x4]: [u64; 3]) -> Result<[u64; 3], Error> {
        ask(function, [self.0, x2, x3, x4])
    }
}

pub use told::Text;
