//! [`LinkTarget`]: what the symbolic links of `/proc` lead to.

use crate::node::Node;
use crate::number::Number;
use core::fmt::Write as _;
use core_log::Line;
use tenon_process::{Description, Errno, Object, Process, State};
use tenon_vfs::{Origin, ROOT};

/// What a link leads to.
#[derive(Clone, Copy, Debug)]
pub enum LinkTarget {
    /// An inode.
    Inode(u32),
    /// An open object without an inode, and the flags of its description.
    Object(Object, u32),
    /// A path that the link has as its text.
    Path,
}

fn process<'a>(state: &'a State, origin: &Origin) -> Result<&'a Process, Errno> {
    crate::exists(state, origin).map_err(|_| Errno::ENOENT)?;
    state.process_of(origin.process).ok_or(Errno::ENOENT)
}

fn description<'a>(state: &'a State, origin: &Origin) -> Result<&'a Description, Errno> {
    let process = process(state, origin)?;
    let descriptor = process.descriptor(origin.part.cast_signed());
    let descriptor = descriptor.map_err(|_| Errno::ENOENT)?;
    state.files.look(&descriptor.file).ok_or(Errno::ENOENT)
}

/// What a link leads to.
pub fn target(state: &State, origin: &Origin) -> Result<LinkTarget, Errno> {
    Ok(match Node::of(origin.kind) {
        Some(Node::WorkingDirectory) => LinkTarget::Inode(process(state, origin)?.directory),
        Some(Node::RootDirectory) => LinkTarget::Inode(process(state, origin)?.root),
        Some(Node::Program) => {
            LinkTarget::Inode(process(state, origin)?.program().ok_or(Errno::ENOENT)?)
        }
        Some(Node::Descriptor) => {
            let description = description(state, origin)?;
            match description.object.inode() {
                Some(inode) => LinkTarget::Inode(inode),
                None => LinkTarget::Object(description.object, description.flags),
            }
        }
        _ => LinkTarget::Path,
    })
}

/// Writes the text of a link, as the calling process and thread see it; returns its length.
pub(crate) fn text(
    state: &State,
    origin: &Origin,
    (own, thread): (u32, u32),
    to: &mut [u8],
) -> Result<usize, Errno> {
    /// What a link leads to is no file any more.
    const DELETED: &[u8] = b" (deleted)";
    let mut line = Line::<64>::new();
    // Writing to a `Line` never fails: it truncates.
    let _ = match Node::of(origin.kind) {
        Some(Node::SelfProcess) => return put(to, Number::new(own).as_bytes()),
        Some(Node::SelfThread) => write!(line, "{own}/task/{thread}"),
        Some(Node::SelfMounts) => write!(line, "self/mounts"),
        _ => match target(state, origin)? {
            LinkTarget::Inode(inode) => {
                let root = state.process_of(own).map_or(ROOT, |process| process.root);
                let start = match state.files.tree.path_from(root, inode, to) {
                    Ok((start, _)) => start,
                    Err(tenon_vfs::Error::TooLong) => return Err(Errno::ENAMETOOLONG),
                    Err(_) => {
                        let mut put = 0;
                        for part in [b"/".as_slice(), DELETED] {
                            let place = to.get_mut(put..put + part.len());
                            place.ok_or(Errno::ENAMETOOLONG)?.copy_from_slice(part);
                            put += part.len();
                        }
                        return Ok(put);
                    }
                };
                to.copy_within(start.., 0);
                return Ok(to.len() - start);
            }
            LinkTarget::Object(Object::Pipe(index, ..), _) => write!(line, "pipe:[{}]", index + 1),
            LinkTarget::Object(Object::Special(special), _) => {
                let number = special.source + 1;
                match special.operations.mode >> 12 {
                    0o14 => write!(line, "socket:[{number}]"),
                    _ => write!(line, "anon_inode:[event]"),
                }
            }
            _ => return Err(Errno::ENOENT),
        },
    };
    put(to, line.as_str().as_bytes())
}

/// Writes a text; returns its length.
fn put(to: &mut [u8], text: &[u8]) -> Result<usize, Errno> {
    let place = to.get_mut(..text.len()).ok_or(Errno::ENAMETOOLONG)?;
    place.copy_from_slice(text);
    Ok(text.len())
}
