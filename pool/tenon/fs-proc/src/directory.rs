//! Directories of `/proc`: [`synchronise`] gives them the entries of the present processes.

use crate::node::{Entry, Node, SYSTEM};
use crate::number::Number;
use core::sync::atomic::{AtomicU32, Ordering};
use tenon_process::{AtEnd, Errno, State};
use tenon_vfs::{Kind, Origin, ROOT};

/// The inode of `/proc`, zero before it is made.
static PROC: AtomicU32 = AtomicU32::new(0);

/// Makes `/proc`, once. Without memory for it, it is not there yet.
pub(crate) fn prepare(state: &mut State) {
    if PROC.load(Ordering::Relaxed) == 0 {
        let _ = make(state);
    }
}

fn make(state: &mut State) -> Result<(), Errno> {
    let origin = Origin::default();
    let proc = add(state, ROOT, (b"proc", Node::Root, 0o555), origin)?;
    for (path, entries) in SYSTEM {
        let mut at = proc;
        for name in *path {
            at = add(state, at, named(&(name, Node::Fixed, 0o555)), origin)?;
        }
        for entry in *entries {
            add(state, at, named(entry), origin)?;
        }
    }
    for entry in Node::Root.entries() {
        add(state, proc, named(entry), origin)?;
    }
    PROC.store(proc, Ordering::Relaxed);
    state.on_end.add(&AT_END);
    Ok(())
}

/// An entry with its name as bytes.
fn named(&(name, node, permissions): &Entry) -> (&[u8], Node, u32) {
    (name.as_bytes(), node, permissions)
}

/// Adds an entry to a directory if it has none of that name; returns its inode.
fn add(
    state: &mut State,
    directory: u32,
    entry: (&[u8], Node, u32),
    origin: Origin,
) -> Result<u32, Errno> {
    let found = state.files.tree.files.find(directory, entry.0).ok();
    add_or_keep(state, directory, entry, found, origin)
}

/// As [`add`], where the name was looked for: its inode, if there is one.
fn add_or_keep(
    state: &mut State,
    directory: u32,
    (name, node, permissions): (&[u8], Node, u32),
    found: Option<u32>,
    origin: Origin,
) -> Result<u32, Errno> {
    let files = &mut state.files.tree.files;
    let inode = match found {
        Some(inode) => inode,
        None => files.create(directory, name, node.kind(), permissions, &mut state.frames)?,
    };
    let inode_of = files.inode_mut(inode)?;
    if inode_of.kind != node.kind() {
        return Err(Errno::EEXIST);
    }
    inode_of.permissions = permissions;
    inode_of.origin = Some(Origin {
        kind: node.number(),
        ..origin
    });
    Ok(inode)
}

/// The process that a directory is of may have other users by now.
fn give(state: &mut State, inode: u32, origin: &Origin) -> Result<(), Errno> {
    let process = state.process_of(origin.process).ok_or(Errno::ENOENT)?;
    let credentials = &process.credentials;
    let owner = if credentials.dumpable {
        (credentials.user().effective, credentials.group().effective)
    } else {
        (0, 0)
    };
    let inode = state.files.tree.files.inode_mut(inode)?;
    (inode.user, inode.group) = owner;
    Ok(())
}

/// Gives a directory of `/proc` the entries that it has now. Other inodes stay as they are.
pub fn synchronise(state: &mut State, directory: u32) -> Result<(), Errno> {
    let Some(origin) = state.files.tree.files.inode(directory)?.origin else {
        return Ok(());
    };
    let Some(node) = Node::of(origin.kind) else {
        return Ok(());
    };
    if origin.process != 0 && crate::exists(state, &origin).is_err() {
        return Err(Errno::ENOENT);
    }
    match node {
        Node::Root => processes(state, directory),
        Node::Process | Node::Thread => of_process(state, directory, node, &origin),
        Node::Threads | Node::Descriptors | Node::DescriptorStates => {
            numbered(state, directory, node, &origin)
        }
        _ => Ok(()),
    }
}

/// As [`synchronise`], for the entry of a name alone where that is less.
pub(crate) fn synchronise_entry(
    state: &mut State,
    directory: u32,
    text: &[u8],
) -> Result<(), Errno> {
    let origin = state.files.tree.files.inode(directory)?.origin;
    let node = origin.and_then(|origin| Node::of(origin.kind));
    let (Some(origin), Some(node)) = (origin, node) else {
        return Ok(());
    };
    match node {
        Node::Root => one_process(state, directory, text),
        Node::Process | Node::Thread => {
            crate::exists(state, &origin).map_err(|_| Errno::ENOENT)?;
            give(state, directory, &origin)?;
            let mut entries = node.entries().iter().map(named);
            let Some(entry) = entries.find(|(name, ..)| *name == text) else {
                return Ok(());
            };
            let inode = add(state, directory, entry, origin)?;
            give(state, inode, &origin)
        }
        _ => synchronise(state, directory),
    }
}

/// The directory of one process, by its name.
fn one_process(state: &mut State, directory: u32, text: &[u8]) -> Result<(), Errno> {
    let Some(number) = Number::parse(text) else {
        return Ok(());
    };
    let mut found = state.files.tree.files.find(directory, text).ok();
    if let Some(inode) = found {
        let origin = state.files.tree.files.inode(inode)?.origin;
        if origin.is_some_and(|origin| crate::exists(state, &origin).is_err()) {
            remove(state, directory, text, inode)?;
            found = None;
        }
    }
    let Some(process) = state.process_of(number) else {
        return Ok(());
    };
    let origin = Origin {
        process: number,
        serial: process.usage.begun,
        ..Origin::default()
    };
    let entry = (text, Node::Process, 0o555);
    let inode = add_or_keep(state, directory, entry, found, origin)?;
    give(state, inode, &origin)
}

fn of_process(state: &mut State, directory: u32, node: Node, origin: &Origin) -> Result<(), Errno> {
    give(state, directory, origin)?;
    for entry in node.entries() {
        let inode = add(state, directory, named(entry), *origin)?;
        give(state, inode, origin)?;
    }
    Ok(())
}

/// Removes the entries of a directory that no longer exist, by their origins.
fn sweep(
    state: &mut State,
    directory: u32,
    gone: impl Fn(&State, &Origin) -> bool,
) -> Result<(), Errno> {
    let mut from = 0;
    while let Some(entry) = state.files.tree.files.entry(directory, from)? {
        from = entry.next;
        let origin = state.files.tree.files.inode(entry.inode)?.origin;
        if origin.is_some_and(|origin| gone(state, &origin)) {
            remove(state, directory, entry.name(), entry.inode)?;
        }
    }
    Ok(())
}

/// Removes an entry with all that is below.
fn remove(state: &mut State, directory: u32, name: &[u8], inode: u32) -> Result<(), Errno> {
    let is_directory = state.files.tree.files.inode(inode)?.kind == Kind::Directory;
    // As deep as `/proc/1/task/1/fd`.
    while is_directory && let Some(entry) = state.files.tree.files.entry(inode, 0)? {
        remove(state, inode, entry.name(), entry.inode)?;
    }
    let files = &mut state.files.tree.files;
    Ok(files.remove(directory, name, &mut state.frames)?)
}

/// The directories of processes.
fn processes(state: &mut State, directory: u32) -> Result<(), Errno> {
    sweep(state, directory, |state, origin| {
        Node::of(origin.kind) == Some(Node::Process) && crate::exists(state, origin).is_err()
    })?;
    let mut next = 0;
    while let Some(process) = state.next_process(next) {
        let number = process.number;
        next = number + 1;
        let origin = Origin {
            process: number,
            serial: process.usage.begun,
            ..Origin::default()
        };
        let name = Number::new(number);
        let entry = (name.as_bytes(), Node::Process, 0o555);
        let inode = add(state, directory, entry, origin)?;
        give(state, inode, &origin)?;
    }
    Ok(())
}

/// Entries for each descriptor or thread.
fn numbered(state: &mut State, directory: u32, node: Node, origin: &Origin) -> Result<(), Errno> {
    let (entry, permissions) = match node {
        Node::Threads => (Node::Thread, 0o555),
        Node::Descriptors => (Node::Descriptor, 0o777),
        _ => (Node::DescriptorState, 0o444),
    };
    sweep(state, directory, |state, origin| match node {
        Node::Threads => !state.has_thread_of(origin.process, origin.part),
        _ => state
            .process_of(origin.process)
            .is_none_or(|process| process.descriptor(origin.part.cast_signed()).is_err()),
    })?;
    let mut next = 0;
    loop {
        let number = match node {
            Node::Threads => state.next_thread(origin.process, next),
            _ => {
                let process = state.process_of(origin.process).ok_or(Errno::ENOENT)?;
                process.files.next(next)
            }
        };
        let Some(number) = number else {
            return Ok(());
        };
        next = number + 1;
        let origin = Origin {
            part: number,
            ..*origin
        };
        let name = Number::new(number);
        let permissions = match node {
            Node::Descriptors => link_permissions(state, &origin).unwrap_or(permissions),
            _ => permissions,
        };
        let entry = (name.as_bytes(), entry, permissions);
        let inode = add(state, directory, entry, origin)?;
        give(state, inode, &origin)?;
    }
}

/// The permissions of a descriptor's link, which say how it is open.
fn link_permissions(state: &State, origin: &Origin) -> Option<u32> {
    let process = state.process_of(origin.process)?;
    let descriptor = process.descriptor(origin.part.cast_signed()).ok()?;
    Some(match state.files.look(&descriptor.file)?.flags & 3 {
        0 => 0o500,
        1 => 0o300,
        _ => 0o700,
    })
}

static AT_END: AtEnd = AtEnd::new(forget);

/// Removes the directory of a process that has ended.
fn forget(state: &mut State, number: u32) {
    let proc = PROC.load(Ordering::Relaxed);
    let name = Number::new(number);
    if let Ok(inode) = state.files.tree.files.find(proc, name.as_bytes()) {
        // Without a name it is no longer found; what is open of it stays until it is closed.
        let _ = remove(state, proc, name.as_bytes(), inode);
    }
}
