//! [`Name`]: the name of an extended attribute, as a process states it.

use tenon_process::{Caller, Errno, State};

/// Bytes of a name at most (`XATTR_NAME_MAX`).
const LONGEST: usize = 255;

/// What a name begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Namespace {
    /// `user.`: of files and directories, with their permissions.
    User,
    /// `trusted.`: for `CAP_SYS_ADMIN`.
    Trusted,
    /// `security.`: each reads it, and `CAP_SYS_ADMIN` writes it.
    Security,
}

/// The name of an attribute.
pub(crate) struct Name {
    bytes: [u8; LONGEST + 1],
    length: usize,
}

impl Name {
    /// Reads a name of the caller.
    pub(crate) fn read(state: &mut State, caller: &Caller, from: usize) -> Result<Self, Errno> {
        let mut bytes = [0; LONGEST + 1];
        let (process, frames, _) = caller.parts(state)?;
        let read = process.space()?.read_string(from, &mut bytes, frames);
        let length = read.map_err(Errno::from)?;
        // As in Linux, also where it is empty.
        if length == 0 || length > LONGEST {
            return Err(Errno::ERANGE);
        }
        Ok(Self { bytes, length })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Its namespace. One without a name behind it is none.
    pub(crate) fn namespace(&self) -> Result<Namespace, Errno> {
        namespace(self.bytes())
    }
}

fn namespace(name: &[u8]) -> Result<Namespace, Errno> {
    let known: [(&[u8], Namespace); 3] = [
        (b"user.", Namespace::User),
        (b"trusted.", Namespace::Trusted),
        (b"security.", Namespace::Security),
    ];
    let mut known = known.into_iter();
    let found = known.find(|(prefix, _)| name.starts_with(prefix));
    let (prefix, namespace) = found.ok_or(Errno::EOPNOTSUPP)?;
    if prefix.len() == name.len() {
        return Err(Errno::EINVAL);
    }
    Ok(namespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_namespace() {
        for (name, expected) in [
            ("user.a", Ok(Namespace::User)),
            ("trusted.overlay", Ok(Namespace::Trusted)),
            ("security.a.b", Ok(Namespace::Security)),
            ("user.", Err(Errno::EINVAL)),
            ("user", Err(Errno::EOPNOTSUPP)),
            ("system.posix_acl_access", Err(Errno::EOPNOTSUPP)),
            (".", Err(Errno::EOPNOTSUPP)),
        ] {
            assert_eq!(namespace(name.as_bytes()), expected, "{name}");
        }
    }
}
