//! The files of a [`Volume`] in the file tree, and the way back.

use tenon_block::BlockDevice;
use tenon_fs_fat::{Cursor, DEPTH, Directory, Entry, Error, ROOT, Volume};
use tenon_linux_files::names;
use tenon_process::{Errno, State, with_state};
use tenon_vfs::{Entry as Name, Kind, Quota};

/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

/// The error of a call for one of a volume.
pub(crate) fn errno(error: Error) -> Errno {
    match error {
        Error::Device(tenon_block::Error::ReadOnly) => Errno::EROFS,
        Error::Device(_) | Error::Damaged => Errno::EIO,
        Error::NotFat | Error::Name => Errno::EINVAL,
        Error::TooManyClusters | Error::TooLarge => Errno::EFBIG,
        Error::NoSpace => Errno::ENOSPC,
        Error::Exists => Errno::EEXIST,
        Error::NotEmpty => Errno::ENOTEMPTY,
    }
}

/// What ends the transfer of a file.
enum Stop {
    /// An error of the volume.
    Volume(Error),
    /// An error of the tree.
    Tree(Errno),
    /// The file has ended.
    Gone,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Volume(error)
    }
}

/// Keeps a directory, which is empty.
pub(crate) fn hold(at: u32) -> Result<(), Errno> {
    with_state(|state| {
        let files = &mut state.files.tree.files;
        if files.inode(at)?.kind != Kind::Directory {
            return Err(Errno::ENOTDIR);
        }
        if !files.is_empty(at) {
            return Err(Errno::ENOTEMPTY);
        }
        files.hold(at);
        files.inode_mut(at)?.bounded = true;
        Ok(())
    })
}

/// Ends the use of a directory.
pub(crate) fn release(at: u32) {
    with_state(|state| {
        let (files, frames) = (&mut state.files.tree.files, &mut state.frames);
        files.quota = Quota::UNLIMITED;
        if let Ok(inode) = files.inode_mut(at) {
            inode.bounded = false;
        }
        files.let_go(at, frames);
    });
}

/// Removes all that is below a directory, in steps.
pub(crate) fn clear(at: u32) {
    while with_state(|state| remove_one(state, at)).unwrap_or(false) {}
    names::reclaim();
}

/// Removes something that has nothing below it; returns false if there is nothing.
fn remove_one(state: &mut State, at: u32) -> Result<bool, Errno> {
    let (files, frames) = (&mut state.files.tree.files, &mut state.frames);
    let Some(mut entry) = files.entry(at, 0)? else {
        return Ok(false);
    };
    let mut above = at;
    while files.inode(entry.inode)?.kind == Kind::Directory
        && let Some(below) = files.entry(entry.inode, 0)?
    {
        (above, entry) = (entry.inode, below);
    }
    files.remove(above, entry.name(), frames)?;
    Ok(true)
}

/// Reads all files of a volume into a directory.
pub(crate) fn load<D: BlockDevice>(volume: &mut Volume<'_, D>, at: u32) -> Result<(), Errno> {
    let mut levels = [const { None::<(Cursor, u32)> }; DEPTH];
    levels[0] = Some((Cursor::new(ROOT), at));
    let mut depth = 0;
    while let Some((cursor, inode)) = levels.get_mut(depth).and_then(Option::as_mut) {
        let Some(entry) = volume.next_entry(cursor).map_err(errno)? else {
            if depth == 0 {
                let unit = volume.cluster_bytes();
                let free = volume.space().1 / unit;
                with_state(|state| state.files.tree.files.quota = Quota { unit, free });
                return Ok(());
            }
            depth -= 1;
            continue;
        };
        let new = create(&entry, *inode)?;
        match entry.directory() {
            Some(directory) => {
                depth += 1;
                if let Some(level) = levels.get_mut(depth) {
                    *level = Some((Cursor::new(directory), new));
                }
            }
            None => fill(volume, &entry, new)?,
        }
    }
    Err(Errno::EIO)
}

/// Creates the inode of an entry. Permissions are those that Linux shows of FAT.
fn create(entry: &Entry, above: u32) -> Result<u32, Errno> {
    let kind = if entry.is_directory {
        Kind::Directory
    } else {
        Kind::File
    };
    with_state(|state| {
        let (files, frames) = (&mut state.files.tree.files, &mut state.frames);
        files.now = entry.modified * SECOND;
        Ok(files.create(above, entry.name(), kind, 0o755, frames)?)
    })
}

/// Reads the content of a file.
fn fill<D: BlockDevice>(
    volume: &mut Volume<'_, D>,
    entry: &Entry,
    inode: u32,
) -> Result<(), Errno> {
    let read = volume.read(entry, |offset, piece| {
        with_state(|state| {
            let (files, frames) = (&mut state.files.tree.files, &mut state.frames);
            files.now = entry.modified * SECOND;
            let mut done = 0;
            while done < piece.len() {
                let rest = &piece[done..];
                let written = files.write(inode, offset + done as u64, rest, frames);
                done += written.map_err(|_| Stop::Tree(Errno::ENOMEM))?;
            }
            Ok(())
        })
    });
    read.map_err(|stop| match stop {
        Stop::Volume(error) => errno(error),
        Stop::Tree(error) => error,
        Stop::Gone => Errno::EIO,
    })
}

/// Writes what has changed below a directory to a volume. What cannot be written is the error, and the
/// rest is written.
pub(crate) fn store<D: BlockDevice>(volume: &mut Volume<'_, D>, at: u32) -> Result<(), Errno> {
    // What is new first, so that what was renamed is there before its former name goes. What has no
    // room or a name of the other kind before has them then.
    let first = add_all(volume, at)?;
    remove_all(volume, at)?;
    let last = if first.is_some() {
        add_all(volume, at)?
    } else {
        None
    };
    volume.finish().map_err(errno)?;
    last.map_or(Ok(()), Err)
}

/// A directory of the tree, of which the entries are written.
#[derive(Clone, Copy)]
struct Level {
    inode: u32,
    directory: Directory,
    next: u64,
}

/// An entry of the tree.
struct Item {
    name: Name,
    kind: Kind,
    generation: u32,
    size: u64,
    modified: u64,
}

/// The next entry of a directory of the tree, which can have ended.
fn next_item(level: &mut Level) -> Option<Item> {
    with_state(|state| {
        let files = &state.files.tree.files;
        let name = files.entry(level.inode, level.next).ok()??;
        level.next = name.next;
        let inode = files.inode(name.inode).ok()?;
        Some(Item {
            kind: inode.kind,
            generation: inode.generation,
            size: inode.size,
            modified: inode.modified,
            name,
        })
    })
}

/// Writes all files of a directory of the tree. Returns an error that concerns single files, if there
/// was one.
fn add_all<D: BlockDevice>(volume: &mut Volume<'_, D>, at: u32) -> Result<Option<Errno>, Errno> {
    let mut levels = [None::<Level>; DEPTH];
    levels[0] = Some(Level {
        inode: at,
        directory: ROOT,
        next: 0,
    });
    let (mut depth, mut problem) = (0, None);
    while let Some(level) = levels.get_mut(depth).and_then(Option::as_mut) {
        let Some(item) = next_item(level) else {
            if depth == 0 {
                break;
            }
            depth -= 1;
            continue;
        };
        match add(volume, level.directory, &item) {
            Ok(None) => {}
            Ok(Some(directory)) => match levels.get_mut(depth + 1) {
                Some(level) => {
                    depth += 1;
                    *level = Some(Level {
                        inode: item.name.inode,
                        directory,
                        next: 0,
                    });
                }
                None => problem = Some(Errno::ENAMETOOLONG),
            },
            Err(Stop::Tree(error)) => problem = Some(error),
            Err(Stop::Gone) => {}
            Err(Stop::Volume(error)) => match error {
                Error::Device(_) | Error::Damaged => return Err(errno(error)),
                _ => problem = Some(errno(error)),
            },
        }
    }
    Ok(problem)
}

/// Writes an entry of the tree; returns its directory if it is one.
fn add<D: BlockDevice>(
    volume: &mut Volume<'_, D>,
    directory: Directory,
    item: &Item,
) -> Result<Option<Directory>, Stop> {
    let is_directory = match item.kind {
        Kind::Directory => true,
        Kind::File => false,
        // FAT has no links and special files.
        _ => return Err(Stop::Tree(Errno::EPERM)),
    };
    let (name, modified) = (item.name.name(), item.modified / SECOND);
    let mut entry = match volume.find(directory, name)? {
        None => volume.create(directory, name, is_directory, modified)?,
        Some(entry) if entry.is_directory == is_directory => entry,
        Some(_) => return Err(Stop::Volume(Error::Exists)),
    };
    if is_directory {
        return Ok(entry.directory());
    }
    volume.write(&mut entry, item.size, modified, |offset, to| {
        with_state(|state| {
            let files = &state.files.tree.files;
            let inode = files.inode(item.name.inode).map_err(|_| Stop::Gone)?;
            if inode.generation != item.generation {
                return Err(Stop::Gone);
            }
            // A file that has become shorter meanwhile is written again by the next sync.
            let read = files.read(item.name.inode, offset, to);
            to[read.map_err(|_| Stop::Gone)?..].fill(0);
            Ok(())
        })
    })?;
    Ok(None)
}

/// A directory of the volume, of which the entries are compared with the tree.
struct Compared {
    cursor: Cursor,
    /// The directory of the tree; `None` if there is none, so that all goes.
    inode: Option<u32>,
    /// Its own entry, which goes too then.
    entry: Option<Entry>,
}

/// Removes what the tree does not have.
fn remove_all<D: BlockDevice>(volume: &mut Volume<'_, D>, at: u32) -> Result<(), Errno> {
    let mut levels = [const { None::<Compared> }; DEPTH];
    levels[0] = Some(Compared {
        cursor: Cursor::new(ROOT),
        inode: Some(at),
        entry: None,
    });
    let mut depth = 0;
    while let Some(level) = levels.get_mut(depth).and_then(Option::as_mut) {
        let Some(entry) = volume.next_entry(&mut level.cursor).map_err(errno)? else {
            if let (None, Some(own)) = (level.inode, level.entry.take()) {
                volume.remove(&own).map_err(errno)?;
            }
            if depth == 0 {
                return Ok(());
            }
            depth -= 1;
            continue;
        };
        let kept = level.inode.and_then(|inode| kept(inode, &entry));
        match (entry.directory(), kept) {
            (Some(directory), inode) => {
                depth += 1;
                if let Some(level) = levels.get_mut(depth) {
                    *level = Some(Compared {
                        cursor: Cursor::new(directory),
                        inode,
                        entry: Some(entry),
                    });
                }
            }
            (None, None) => volume.remove(&entry).map_err(errno)?,
            (None, Some(_)) => {}
        }
    }
    Err(Errno::EIO)
}

/// The inode of the tree that has the name and the kind of an entry.
fn kept(directory: u32, entry: &Entry) -> Option<u32> {
    with_state(|state| {
        let files = &state.files.tree.files;
        let inode = files.find(directory, entry.name()).ok()?;
        let kind = files.inode(inode).ok()?.kind;
        let same = match kind {
            Kind::Directory => entry.is_directory,
            Kind::File => !entry.is_directory,
            _ => false,
        };
        same.then_some(inode)
    })
}
