//! The thread that uses the disk, one [`Request`] at a time.

use crate::mirror;
use core::fmt::{Arguments, Write as _};
use core_log::Line;
use tenon_disk::Disk;
use tenon_fs_fat::Volume;
use tenon_process::Errno;
use tenon_sync::{Condvar, Mutex, MutexGuard, Semaphore};
use tenon_thread::options;
use tenon_thread::output;
use tenon_thread::thread::{Priority, Storage};

/// Clusters that a volume can have, in words of 64.
const CLUSTERS: usize = 2049;

/// What a process asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Reads the volume into an empty directory, by its inode.
    Mount(u32),
    /// Writes what has changed.
    Sync,
    /// Writes what has changed, and empties the directory.
    Unmount,
}

/// State of the thread and its users.
struct Shared {
    started: bool,
    request: Option<Request>,
    result: Option<Result<(), Errno>>,
    /// The directory at which the volume is mounted.
    mounted: Option<u32>,
}

/// A quarter of the stack is the table of clusters: a static of the lock would take room in the image.
static THREAD: Storage<{ 80 * 1024 }> = Storage::new();
static SHARED: Mutex<Shared> = Mutex::new(Shared {
    started: false,
    request: None,
    result: None,
    mounted: None,
});
static CHANGED: Condvar = Condvar::new();
static BELL: Semaphore = Semaphore::bounded(0, 1);

fn shared() -> Result<MutexGuard<Shared>, Errno> {
    SHARED.lock().map_err(|_| Errno::EIO)
}

/// The directory at which the volume is mounted.
pub(crate) fn mounted() -> Option<u32> {
    shared().ok()?.mounted
}

/// Has the thread do what is asked, and sleeps until it is done. Without a mounted volume there is
/// nothing to write.
pub(crate) fn ask(request: Request) -> Result<(), Errno> {
    let mut shared = shared()?;
    // Requests of others first.
    while shared.request.is_some() {
        shared = CHANGED.wait(shared).map_err(|_| Errno::EIO)?;
    }
    match (request, shared.mounted) {
        (Request::Mount(_), Some(_)) => return Err(Errno::EBUSY),
        (Request::Sync, None) => return Ok(()),
        (Request::Unmount, None) => return Err(Errno::EINVAL),
        _ => {}
    }
    if !shared.started {
        let priority = Priority::new(options::process_priority() as u8);
        let thread = THREAD.spawn("disk", priority, serve);
        thread.map_err(|_| Errno::EIO)?;
        shared.started = true;
    }
    (shared.request, shared.result) = (Some(request), None);
    // A bell that is rung already wakes the thread as well.
    let _ = BELL.give();
    loop {
        shared = CHANGED.wait(shared).map_err(|_| Errno::EIO)?;
        if let Some(result) = shared.result.take() {
            shared.request = None;
            drop(shared);
            CHANGED.notify_all();
            return result;
        }
    }
}

/// Body of the thread.
fn serve() {
    let mut disk = Disk::open();
    let mut used = [0; CLUSTERS];
    loop {
        BELL.take();
        let Ok(now) = shared() else {
            return;
        };
        let (request, mounted) = (now.request, now.mounted);
        drop(now);
        let Some(request) = request else {
            continue;
        };
        let result = match (&mut disk, request) {
            (Err(why), _) => {
                report(format_args!("disk: {why}"));
                Err(Errno::ENODEV)
            }
            (Ok(disk), Request::Mount(at)) => mount((disk, &mut used), at),
            (Ok(disk), Request::Sync) => sync((disk, &mut used), mounted),
            (Ok(disk), Request::Unmount) => {
                let synced = sync((disk, &mut used), mounted);
                if let (Ok(()), Some(at)) = (synced, mounted) {
                    mirror::clear(at);
                    mirror::release(at);
                }
                synced
            }
        };
        let Ok(mut now) = shared() else {
            return;
        };
        match (request, result) {
            (Request::Mount(at), Ok(())) => now.mounted = Some(at),
            (Request::Unmount, Ok(())) => now.mounted = None,
            _ => {}
        }
        now.result = Some(result);
        drop(now);
        CHANGED.notify_all();
    }
}

/// Opens the volume, with what is on the disk now.
fn with_volume<R>(
    (disk, used): (&mut Disk, &mut [u64]),
    action: impl FnOnce(&mut Volume<'_, &mut Disk>) -> Result<R, Errno>,
) -> Result<R, Errno> {
    let mut volume = Volume::open(disk, used).map_err(|error| {
        report(format_args!("disk: {error}"));
        mirror::errno(error)
    })?;
    action(&mut volume)
}

fn mount(disk: (&mut Disk, &mut [u64]), at: u32) -> Result<(), Errno> {
    mirror::hold(at)?;
    let loaded = with_volume(disk, |volume| mirror::load(volume, at));
    if let Err(error) = loaded {
        mirror::clear(at);
        mirror::release(at);
        report(format_args!("disk: not mounted: {error}"));
    }
    loaded
}

fn sync(disk: (&mut Disk, &mut [u64]), mounted: Option<u32>) -> Result<(), Errno> {
    let Some(at) = mounted else {
        return Ok(());
    };
    let written = with_volume(disk, |volume| mirror::store(volume, at));
    if let Err(error) = written {
        report(format_args!("disk: not all files are written: {error}"));
    }
    written
}

/// Writes a line to the console.
fn report(text: Arguments<'_>) {
    let mut line = Line::<120>::new();
    // Writing to a `Line` never fails: it truncates.
    let _ = writeln!(line, "{text}");
    output::write(line.as_str().as_bytes());
}
