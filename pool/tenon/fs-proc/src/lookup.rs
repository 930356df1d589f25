//! [`find`]: paths through `/proc`.

use crate::node::Node;
use crate::{LinkTarget, directory, link};
use core::cell::Cell;
use tenon_process::{Caller, EXECUTE, Errno, Process, State};
use tenon_vfs::{Error, Found, Inode, Kind, Path, Walk};

/// Components in directories of `/proc` that one path has at most, before further entries are taken
/// as they are: a ring of links ends.
const DEPTH: usize = 64;

/// Rules for the resolution of a path, beside those of permissions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// The directory at which absolute paths begin and beyond which none leads; that of the process
    /// without one.
    pub root: Option<u32>,
    /// A path that leaves the root is an error.
    pub confined: bool,
    /// Symbolic links are errors.
    pub no_links: bool,
    /// Links that lead to an object rather than to a path are errors.
    pub no_objects: bool,
    /// Paths from files to `/proc` or back are errors.
    pub no_crossing: bool,
}

/// A walk by the credentials of a process.
struct By<'a> {
    rules: &'a Rules,
    state: &'a State,
    process: &'a Process,
    thread: u32,
    /// The directory that has the next component, and how many such there were.
    present: &'a Cell<(Option<u32>, usize)>,
}

impl Walk for By<'_> {
    fn root(&self) -> u32 {
        self.rules.root.unwrap_or(self.process.root)
    }

    fn is_confined(&self) -> bool {
        self.rules.confined
    }

    fn may_cross(&self) -> bool {
        !self.rules.no_crossing
    }

    fn check_link(&self, inode: &Inode) -> Result<(), Error> {
        let rules = self.rules;
        let node = inode.origin.and_then(|origin| Node::of(origin.kind));
        let to_object = node.is_some_and(Node::leads_to_object);
        if rules.no_links || to_object && rules.no_objects {
            return Err(Error::Loop);
        }
        // Such a link leads anywhere.
        if to_object && rules.root.is_some() {
            return Err(Error::Crossed);
        }
        Ok(())
    }

    fn may_search(&self, inode: &Inode) -> bool {
        let kind = (inode.permissions, inode.kind == Kind::Directory);
        let owner = (inode.user, inode.group);
        self.process.credentials.permits(owner, kind, EXECUTE)
    }

    fn is_stale(&self, number: u32) -> bool {
        let (present, count) = self.present.get();
        if count == DEPTH || present == Some(number) {
            // For one component: a link can lead to another one of the same directory.
            self.present.set((None, count));
            return false;
        }
        self.present.set((Some(number), count + 1));
        true
    }

    fn target(&self, inode: &Inode, room: &mut [u8]) -> Option<usize> {
        let origin = inode.origin.as_ref()?;
        let identity = (self.process.number, self.thread);
        link::text(self.state, origin, identity, room).ok()
    }
}

/// What a path leads to, from a directory on, as [`Tree::find`](tenon_vfs::Tree::find) states it: with
/// the present entries of `/proc`, by the credentials of the caller.
pub fn find(
    state: &mut State,
    caller: &Caller,
    base: u32,
    path: &mut Path,
    follow: bool,
) -> Result<Found, Errno> {
    find_by(state, caller, base, (path, follow), &Rules::default())
}

/// As [`find`], by further rules.
pub fn find_by(
    state: &mut State,
    caller: &Caller,
    mut base: u32,
    (path, follow): (&mut Path, bool),
    rules: &Rules,
) -> Result<Found, Errno> {
    directory::prepare(state);
    let present = Cell::new((None, 0));
    loop {
        let (found, link) = {
            let process = caller.look(state)?;
            let walk = By {
                rules,
                state,
                process,
                thread: caller.number(),
                present: &present,
            };
            let found = state.files.tree.find_by(base, path, follow, &walk);
            // What is followed below.
            let link = found.as_ref().ok().filter(|found| follow && found.link);
            let link = link.and_then(|found| found.node);
            if let Some(link) = link {
                walk.check_link(state.files.tree.files.inode(link)?)?;
            }
            (found, link)
        };
        match found {
            Err(Error::Stale(directory)) => {
                if let Some(name) = path.next_name() {
                    let present = directory::synchronise_entry(state, directory, name);
                    // A process that has ended is not a missing file.
                    present.map_err(|error| match error {
                        Errno::ENOENT => Errno::ESRCH,
                        error => error,
                    })?;
                }
                base = directory;
            }
            Err(error) => return Err(error.into()),
            Ok(mut found) => {
                let Some(node) = link else {
                    return Ok(found);
                };
                match follow_link(state, node)? {
                    Some(target) => {
                        found.node = Some(target);
                        found.link = target == node;
                    }
                    // A link to a path: the rest is resolved from its directory on.
                    None => {
                        path.set(|room| {
                            let text = read_link(state, caller, node, room)?;
                            text.ok_or(Errno::ENOENT)
                        })?;
                        base = found.parent;
                        continue;
                    }
                }
                return Ok(found);
            }
        }
    }
}

/// The inode that a link of `/proc` leads to, the inode itself where it is no such link or leads to
/// an object without an inode, nothing where it leads to a path.
fn follow_link(state: &State, node: u32) -> Result<Option<u32>, Errno> {
    let inode = state.files.tree.files.inode(node)?;
    let Some(origin) = inode.origin.filter(|_| inode.kind == Kind::Link) else {
        return Ok(Some(node));
    };
    match link::target(state, &origin)? {
        LinkTarget::Inode(inode) => Ok(Some(inode)),
        LinkTarget::Object(..) => Ok(Some(node)),
        LinkTarget::Path => Ok(None),
    }
}

/// Writes the text of a link of `/proc`, as the caller sees it; `None` for other links.
pub fn read_link(
    state: &State,
    caller: &Caller,
    inode: u32,
    to: &mut [u8],
) -> Result<Option<usize>, Errno> {
    let Some(origin) = state.files.tree.files.inode(inode)?.origin else {
        return Ok(None);
    };
    if Node::of(origin.kind).is_none_or(|node| node.kind() != Kind::Link) {
        return Ok(None);
    }
    let identity = (caller.process(), caller.number());
    link::text(state, &origin, identity, to).map(Some)
}
