//! [`Log`], and the disk thread.

use crate::buffer::{Buffer, Range};
use crate::store::{FILES, Store};
use crate::{BUFFER, Error};
use core::fmt::Write as _;
use core_log::Line;
use tenon_disk::Disk;
use tenon_sync::{Condvar, Mutex, MutexGuard, Semaphore};
use tenon_thread::output;
use tenon_thread::thread::{Priority, Storage};

const _: () = assert!(BUFFER <= u32::MAX as usize, "a write has 32 bits of bytes");

/// Clusters that a volume can have, in words of 64.
const CLUSTERS: usize = 2049;

/// State of an open file.
#[derive(Clone, Copy)]
enum State {
    Opening,
    Open(Range),
    Failed(Error),
}

/// A file: its name and state.
#[derive(Clone, Copy)]
struct File {
    name: &'static str,
    state: State,
}

/// State of the disk thread and its users.
struct Shared {
    started: bool,
    files: [Option<File>; FILES],
}

impl Shared {
    fn range(&mut self, file: usize) -> Result<&mut Range, Error> {
        match self.files.get_mut(file) {
            Some(Some(File {
                state: State::Open(range),
                ..
            })) => Ok(range),
            Some(Some(File {
                state: State::Failed(error),
                ..
            })) => Err(*error),
            _ => Err(Error::Thread),
        }
    }
}

/// A quarter of the stack is the table of clusters.
static THREAD: Storage<{ 80 * 1024 }> = Storage::new();
static BUFFERS: [Buffer; FILES] = [const { Buffer::new() }; FILES];
static SHARED: Mutex<Shared> = Mutex::new(Shared {
    started: false,
    files: [None; FILES],
});
static CHANGED: Condvar = Condvar::new();
static BELL: Semaphore = Semaphore::bounded(0, 1);

fn lock() -> Result<MutexGuard<Shared>, Error> {
    SHARED.lock().map_err(|_| Error::Thread)
}

fn wait(guard: MutexGuard<Shared>) -> Result<MutexGuard<Shared>, Error> {
    CHANGED.wait(guard).map_err(|_| Error::Thread)
}

/// Starts the disk thread, with a priority below that of threads which must not be delayed by it.
///
/// # Errors
///
/// If it cannot start, or is started already. Errors of the disk are those of [`Log::open`].
pub fn start(priority: Priority) -> Result<(), Error> {
    let mut shared = lock()?;
    if shared.started {
        return Err(Error::Started);
    }
    let thread = THREAD.spawn("disk", priority, serve);
    thread.map_err(|_| Error::Thread)?;
    shared.started = true;
    Ok(())
}

/// An open file, to which any thread may append.
#[derive(Clone, Copy, Debug)]
pub struct Log {
    file: usize,
}

impl Log {
    /// Opens a file in the root directory of the disk, or creates it; waits for the disk.
    ///
    /// # Errors
    ///
    /// If there is no disk or no FAT volume on it, FAT has no such name, the name is a directory's, no
    /// room is left, the device fails, or too many files are open.
    pub fn open(name: &'static str) -> Result<Self, Error> {
        let mut shared = lock()?;
        if !shared.started {
            return Err(Error::Thread);
        }
        let same = |file: &File| file.name.eq_ignore_ascii_case(name);
        if shared.files.iter().flatten().any(same) {
            return Err(Error::Open);
        }
        let file = shared.files.iter().position(Option::is_none);
        let file = file.ok_or(Error::Open)?;
        shared.files[file] = Some(File {
            name,
            state: State::Opening,
        });
        ring();
        loop {
            shared = wait(shared)?;
            match shared.files[file].map(|file| file.state) {
                Some(State::Opening) => {}
                Some(State::Failed(error)) => {
                    shared.files[file] = None;
                    return Err(error);
                }
                _ => return Ok(Self { file }),
            }
        }
    }

    /// Adds bytes to the end of the file, all or none. Does not wait for the disk.
    ///
    /// # Errors
    ///
    /// [`Error::Full`] if the buffer has no room for them, and the error that has ended the use of the
    /// file.
    pub fn append(&self, bytes: &[u8]) -> Result<(), Error> {
        let mut shared = lock()?;
        let at = shared.range(self.file)?.reserve(bytes.len())?;
        BUFFERS[self.file].write(at, bytes);
        drop(shared);
        ring();
        Ok(())
    }

    /// Waits until all bytes are durable that were appended before the call.
    ///
    /// # Errors
    ///
    /// The error that has ended the use of the file; bytes that were not durable are lost then.
    pub fn sync(&self) -> Result<(), Error> {
        let mut shared = lock()?;
        let end = shared.range(self.file)?.appended;
        while shared.range(self.file)?.durable < end {
            shared = wait(shared)?;
        }
        Ok(())
    }

    /// Bytes of the file that a power cut does not take away.
    ///
    /// # Errors
    ///
    /// The error that has ended the use of the file.
    pub fn durable(&self) -> Result<u64, Error> {
        Ok(lock()?.range(self.file)?.durable)
    }
}

/// Wakes the disk thread.
fn ring() {
    // A bell that is rung already wakes the thread as well.
    let _ = BELL.give();
}

/// Body of the disk thread.
fn serve() {
    let mut clusters = [0; CLUSTERS];
    let disk = Disk::open().map_err(Error::NoDisk);
    let mut store = disk.and_then(|disk| Store::new(disk, &mut clusters));
    loop {
        BELL.take();
        for file in 0..FILES {
            if serve_file(&mut store, file).is_err() {
                return;
            }
        }
    }
}

/// Does what a file has waiting; fails if a thread has ended with the lock.
fn serve_file(store: &mut Result<Store<'_, Disk>, Error>, file: usize) -> Result<(), Error> {
    let Some(File { name, state }) = lock()?.files[file] else {
        return Ok(());
    };
    let done = match (state, &mut *store) {
        (State::Opening, Ok(store)) => store.open(file, name).map(Range::at),
        (State::Open(range), Ok(store)) if range.durable < range.appended => {
            let appended = store.append(file, &BUFFERS[file], range);
            appended.map(|()| range)
        }
        (State::Opening | State::Open(_), Err(error)) => Err(*error),
        _ => return Ok(()),
    };
    if let Err(error) = done {
        report(name, error);
        // The volume in memory may not be that of the disk any more.
        if let Error::Volume(tenon_fs_fat::Error::Device(_) | tenon_fs_fat::Error::Damaged) = error
        {
            *store = Err(error);
        }
    }
    let mut shared = lock()?;
    if let Some(File { state, .. }) = &mut shared.files[file] {
        match (&mut *state, done) {
            (_, Err(error)) => *state = State::Failed(error),
            (State::Open(now), Ok(written)) => now.durable = written.appended,
            (_, Ok(opened)) => *state = State::Open(opened),
        }
    }
    drop(shared);
    CHANGED.notify_all();
    Ok(())
}

/// Writes a line about an error to the console.
fn report(name: &str, error: Error) {
    let mut line = Line::<120>::new();
    // Writing to a `Line` never fails: it truncates.
    let _ = writeln!(line, "disk: {name} is not written any more: {error}");
    output::write(line.as_str().as_bytes());
}
