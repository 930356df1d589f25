//! [`Disk`]: the virtio disk of an image as a [`BlockDevice`].
//!
//! The disk is the first one of the machine, or the disk of Mortise's that the VM has. A thread that
//! waits for a request sleeps, and looks for its end each 0.1 ms; the interrupts of the device stay
//! suppressed. A request without an end in 10 s is a disk that is gone: all later ones fail.
//!
//! ```no_run
//! use tenon_block::{BlockDevice, SECTOR};
//! use tenon_disk::Disk;
//!
//! fn boot_sector() -> Result<[u8; SECTOR], &'static str> {
//!     let mut disk = Disk::open()?;
//!     let mut sector = [0; SECTOR];
//!     disk.read(0, &mut sector).map_err(|_| "the disk has failed")?;
//!     Ok(sector)
//! }
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use core::time::Duration;
use hw_virtio_blk::{BUFFER, Drive, Frame, Memory, Request, Transport};
use tenon_block::{BlockDevice, Error, SECTOR, check};
use tenon_thread::environment;
use tenon_thread::time::{Instant, sleep};

/// Kind of the device in board descriptions.
const KIND: &str = "virtio-mmio";

/// The number of this user of the disk, which is the only one.
const USER: usize = 0;

/// The distance of looks at a request, and the time after which the disk is taken to be gone.
const PERIOD: Duration = Duration::from_micros(100);
const LIMIT: Duration = Duration::from_secs(10);

static MEMORY: Memory = Memory::new();

/// A virtio disk.
pub struct Disk {
    drive: Drive<Transport<Frame>>,
    /// The device has not completed a request in time.
    is_gone: bool,
}

impl Disk {
    /// Initialises the first disk of the image. Once in an image, as a disk keeps its memory.
    ///
    /// # Errors
    ///
    /// Why there is none, in words.
    pub fn open() -> Result<Self, &'static str> {
        let registers = environment::device(KIND).map_err(|_| "the system has no [[disk]]")?;
        let drive = Drive::find(&Frame::new(registers), &MEMORY);
        Ok(Self {
            drive: drive.map_err(hw_virtio_blk::Error::words)?,
            is_gone: false,
        })
    }

    /// Submits a request, and sleeps until it is complete.
    fn request(&mut self, request: Request) -> Result<(), Error> {
        if self.is_gone {
            return Err(Error::Failed);
        }
        self.drive.submit(USER, request);
        let end = Instant::now() + LIMIT;
        loop {
            if let Some(good) = self.drive.poll(USER) {
                return good.then_some(()).ok_or(Error::Failed);
            }
            if Instant::now() > end {
                self.is_gone = true;
                return Err(Error::Failed);
            }
            sleep(PERIOD);
        }
    }
}

impl BlockDevice for Disk {
    fn sectors(&self) -> u64 {
        self.drive.sectors()
    }

    fn is_read_only(&self) -> bool {
        self.drive.is_read_only()
    }

    fn read(&mut self, sector: u64, to: &mut [u8]) -> Result<(), Error> {
        check(self.sectors(), sector, to.len())?;
        let mut sector = sector;
        for part in to.chunks_mut(BUFFER) {
            let count = (part.len() / SECTOR) as u64;
            self.request(Request::Read { sector, count })?;
            MEMORY.read(USER, part);
            sector += count;
        }
        Ok(())
    }

    fn write(&mut self, sector: u64, from: &[u8]) -> Result<(), Error> {
        check(self.sectors(), sector, from.len())?;
        if self.is_read_only() {
            return Err(Error::ReadOnly);
        }
        let mut sector = sector;
        for part in from.chunks(BUFFER) {
            let count = (part.len() / SECTOR) as u64;
            if self.is_gone {
                return Err(Error::Failed);
            }
            MEMORY.write(USER, part);
            self.request(Request::Write { sector, count })?;
            sector += count;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.request(Request::Flush)
    }
}
