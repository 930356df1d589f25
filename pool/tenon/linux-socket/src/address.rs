//! [`Address`]: addresses of sockets, as programs state them.

use crate::table::with;
use tenon_linux_credentials::permission::check;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, State, WRITE};
use tenon_socket::{NAME, Name, NameKind};
use tenon_vfs::{Kind, Path};

/// `AF_UNIX`.
pub(crate) const UNIX: u16 = 1;
/// Bytes of a `struct sockaddr_un`.
const SIZE: usize = 2 + NAME;

/// An address: its family, and the bytes behind that.
pub(crate) struct Address {
    pub(crate) family: u16,
    bytes: [u8; NAME],
    length: usize,
}

impl Address {
    /// Reads an address of the caller.
    pub(crate) fn read(
        state: &mut State,
        caller: &Caller,
        (from, length): (usize, usize),
    ) -> Result<Self, Errno> {
        let mut bytes = [0; SIZE];
        let place = bytes.get_mut(..length).filter(|bytes| bytes.len() >= 2);
        user_memory::read(state, caller, from, place.ok_or(Errno::EINVAL)?)?;
        let [low, high, name @ ..] = bytes;
        Ok(Self {
            family: u16::from_le_bytes([low, high]),
            bytes: name,
            length: length - 2,
        })
    }

    /// The name: nothing, an abstract one with its NUL in front, or a path without the NUL behind it.
    pub(crate) fn name(&self) -> Result<&[u8], Errno> {
        if self.family != UNIX {
            return Err(Errno::EINVAL);
        }
        let name = self.bytes.get(..self.length).unwrap_or_default();
        if self.is_abstract() {
            return Ok(name);
        }
        let end = name.iter().position(|byte| *byte == 0);
        Ok(&name[..end.unwrap_or(name.len())])
    }

    /// Whether the name is no path.
    pub(crate) fn is_abstract(&self) -> bool {
        self.length > 0 && self.bytes[0] == 0
    }

    /// The socket that has the name.
    pub(crate) fn find(&self, state: &mut State, caller: &Caller) -> Result<u32, Errno> {
        let name = self.name()?;
        if name.is_empty() {
            return Err(Errno::EINVAL);
        }
        let kind = if self.is_abstract() {
            NameKind::Abstract
        } else {
            let base = caller.parts(state)?.0.directory;
            let found = tenon_fs_proc::find(state, caller, base, &mut Path::of(name)?, true)?;
            let inode = found.inode()?;
            check(state, caller, inode, WRITE)?;
            if state.files.tree.files.inode(inode)?.kind != Kind::Socket {
                return Err(Errno::ECONNREFUSED);
            }
            NameKind::File(inode)
        };
        with(|sockets| sockets.find(kind, name).ok_or(Errno::ECONNREFUSED))
    }

    /// The bytes of an address: those of a name, or of none.
    pub(crate) fn bytes_of(name: Option<&Name>) -> ([u8; SIZE + 1], usize) {
        let mut bytes = [0; SIZE + 1];
        bytes[..2].copy_from_slice(&UNIX.to_le_bytes());
        let Some(name) = name else {
            return (bytes, 2);
        };
        let text = name.bytes();
        bytes[2..2 + text.len()].copy_from_slice(text);
        // A path ends with a NUL.
        let end = usize::from(name.kind != NameKind::Abstract);
        (bytes, 2 + text.len() + end)
    }
}

/// Writes an address and its length for the caller, as much as it has room for.
pub(crate) fn put(
    state: &mut State,
    caller: &Caller,
    (bytes, length): (&[u8], usize),
    (to, at): (usize, usize),
) -> Result<(), Errno> {
    let mut room = [0; 4];
    user_memory::read(state, caller, at, &mut room)?;
    let room = usize::try_from(i32::from_le_bytes(room)).map_err(|_| Errno::EINVAL)?;
    user_memory::write(state, caller, to, &bytes[..length.min(room)])?;
    user_memory::write(state, caller, at, &(length as u32).to_le_bytes())
}
