//! Directory `/proc`: processes and the system as [inodes](tenon_vfs::Inode).
//!
//! The inodes lie in the file tree of processes, with an [`Origin`] that states what they show. A
//! directory gets its entries when a path leads through it, or when it is listed; those of a
//! process go with its end. A file that is opened is an inode of its own without a name; its content
//! is generated at its opening and when it is read from its start: what is read in parts belongs
//! together. A symbolic link has no content, and leads to what its process has.
//!
//! Guarantees: an inode shows the process for which it was made, never another one with the same
//! number; after the end of that process it is `ESRCH`. No more memory is used than by the entries of
//! processes with directories that were looked at, and by the content of open files. All of it is done
//! by threads, a file or a directory at a time; no interrupt is masked.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod directory;
mod link;
mod list;
mod lookup;
mod node;
mod number;
mod process;
mod setting;
mod system;
mod text;

pub use directory::synchronise;
pub use link::{LinkTarget, target};
pub use list::{LINE, List, Provider, provide};
pub use lookup::{Rules, find, find_by, read_link};
pub use setting::Setting;
pub use system::{RELEASE, set_domain, set_host, with_domain, with_host};

use node::Node;
use tenon_process::{Errno, State};
use tenon_vfs::Origin;

/// A file of `/proc` that is opened: an inode without a name, which is held, with its content.
pub fn open(state: &mut State, inode: u32, origin: Origin) -> Result<u32, Errno> {
    let template = state.files.tree.files.inode(inode)?;
    let (permissions, user, group) = (template.permissions, template.user, template.group);
    let files = &mut state.files.tree.files;
    let opened = files.create_unnamed(permissions, &mut state.frames)?;
    let new = files.inode_mut(opened)?;
    (new.user, new.group) = (user, group);
    new.origin = Some(origin);
    if let Err(error) = generate(state, opened, origin) {
        state.files.tree.files.let_go(opened, &mut state.frames);
        return Err(error);
    }
    if let Some(origin) = &mut state.files.tree.files.inode_mut(opened)?.origin {
        origin.fresh = true;
    }
    Ok(opened)
}

/// Generates the content of an open file anew where it is read from its start.
#[inline(always)]
pub fn refresh(state: &mut State, inode: u32, offset: u64) -> Result<(), Errno> {
    match state.files.tree.files.inode(inode)?.origin {
        Some(_) => refresh_generated(state, inode, offset),
        None => Ok(()),
    }
}

fn refresh_generated(state: &mut State, inode: u32, offset: u64) -> Result<(), Errno> {
    let files = &mut state.files.tree.files;
    let Some(origin) = &mut files.inode_mut(inode)?.origin else {
        return Ok(());
    };
    if offset != 0 || core::mem::take(&mut origin.fresh) {
        let origin = *origin;
        return exists(state, &origin);
    }
    let origin = *origin;
    generate(state, inode, origin)
}

/// The number of the process that a directory of `/proc` shows; `ESRCH` once that has ended.
pub fn process_of_directory(state: &State, inode: u32) -> Result<u32, Errno> {
    let origin = state.files.tree.files.inode(inode)?.origin;
    let of_process = origin.filter(|origin| Node::of(origin.kind) == Some(Node::Process));
    let origin = of_process.ok_or(Errno::EBADF)?;
    exists(state, &origin)?;
    Ok(origin.process)
}

/// Fails with `ESRCH` if the process of an inode has ended.
fn exists(state: &State, origin: &Origin) -> Result<(), Errno> {
    if origin.process == 0 {
        return Ok(());
    }
    let process = state.process_of(origin.process).ok_or(Errno::ESRCH)?;
    let same = process.usage.begun == origin.serial;
    same.then_some(()).ok_or(Errno::ESRCH)
}

fn generate(state: &mut State, inode: u32, origin: Origin) -> Result<(), Errno> {
    exists(state, &origin)?;
    let node = Node::of(origin.kind).ok_or(Errno::EIO)?;
    let files = &mut state.files.tree.files;
    while !files.resize(inode, 0, &mut state.frames)? {}
    let mut text = text::Text::new(state, inode);
    if origin.process == 0 {
        system::write(&mut text, node);
    } else {
        process::write(&mut text, node, &origin);
    }
    text.end()
}

/// Sets the limit of pipes, a power of two of at least a page.
fn set_pipe_limit(state: &mut State, text: &[u8]) -> Result<(), Errno> {
    const PAGE: usize = 4096;
    /// As much as a pipe can have.
    const MOST: usize = 256 * PAGE;
    let text = core::str::from_utf8(text).map_err(|_| Errno::EINVAL)?;
    let limit: u32 = text.trim().parse().map_err(|_| Errno::EINVAL)?;
    if limit == 0 || limit > 1 << 31 {
        return Err(Errno::EINVAL);
    }
    let limit = (limit as usize).clamp(PAGE, MOST);
    state.files.pipe_limit = limit.next_power_of_two();
    Ok(())
}

/// Serves a write to a file; names, limits of pipes and [settings](Setting) can be written.
pub fn store(state: &mut State, origin: &Origin, bytes: &[u8]) -> Result<usize, Errno> {
    exists(state, origin)?;
    let until = |end: &[u8]| {
        let end = bytes.iter().position(|byte| end.contains(byte));
        bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default()
    };
    // As in Linux, the name of a program may end a line.
    let (program, name) = (until(b"\0"), until(b"\0\n"));
    match Node::of(origin.kind) {
        Some(Node::Name) => {
            let name = core::str::from_utf8(program).map_err(|_| Errno::EINVAL)?;
            let process =
                state.by_number(state.process_of(origin.process).ok_or(Errno::ESRCH)?.number)?;
            process.set_name(name);
        }
        Some(Node::HostName) => set_host(name)?,
        Some(Node::DomainName) => set_domain(name)?,
        Some(Node::OutOfMemory) => {
            let range = -1000..=1000;
            let text = core::str::from_utf8(name).map_err(|_| Errno::EINVAL)?;
            let score = text.trim().parse().map_err(|_| Errno::EINVAL)?;
            if !range.contains(&score) {
                return Err(Errno::EINVAL);
            }
            state.by_number(origin.process)?.score = score;
        }
        Some(Node::PipeSize) => set_pipe_limit(state, name)?,
        Some(node) if node.setting().is_some() => {
            node.setting().ok_or(Errno::EIO)?.set(name)?;
        }
        Some(Node::Overcommit | Node::WatchingInstances | Node::WatchedEvents | Node::Watches) => {}
        _ => return Err(Errno::EIO),
    }
    Ok(bytes.len())
}
