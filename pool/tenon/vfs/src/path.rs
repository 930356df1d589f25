//! Absolute and relative paths of bounded length.

use crate::Error;
use heapless::String;

/// The longest path in bytes.
pub const PATH: usize = 256;

/// A path, or what remains of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Path(String<PATH>);

impl Path {
    /// The path of a text.
    pub(crate) fn of(text: &str) -> Result<Self, Error> {
        String::try_from(text).map(Self).map_err(|_| Error::TooLong)
    }

    /// Its text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it has no component.
    pub(crate) fn is_end(&self) -> bool {
        self.0.bytes().all(|byte| byte == b'/')
    }

    /// Its first component and the path behind it.
    pub(crate) fn split_first(&self) -> Option<(&str, Self)> {
        let text = self.0.trim_start_matches('/');
        let (first, rest) = text.split_once('/').unwrap_or((text, ""));
        // What remains is shorter, so that there is room.
        (!first.is_empty()).then(|| (first, Self(String::try_from(rest).unwrap_or_default())))
    }

    /// Enters a component of an absolute path, `.` and `..` as well, or a path of components.
    pub(crate) fn enter(&mut self, component: &str) -> Result<(), Error> {
        match component {
            "" | "." => {}
            ".." => {
                let end = self.0.rfind('/').unwrap_or(0).max(1);
                self.0.truncate(end);
            }
            name => {
                if !self.0.ends_with('/') {
                    self.0.push('/').map_err(|_| Error::TooLong)?;
                }
                self.0.push_str(name).map_err(|_| Error::TooLong)?;
            }
        }
        Ok(())
    }

    /// The path of `first`, and then this one.
    pub(crate) fn behind(&self, first: &str) -> Result<Self, Error> {
        let mut path = Self::of(first)?;
        path.0.push('/').map_err(|_| Error::TooLong)?;
        path.0.push_str(&self.0).map_err(|_| Error::TooLong)?;
        Ok(path)
    }
}
