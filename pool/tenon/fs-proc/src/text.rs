//! [`Text`]: the content of a file while it is generated.

use core::fmt::{self, Write as _};
use core_log::Line;
use tenon_process::{Errno, State};

/// Bytes of a line at most.
const LINE: usize = 320;

/// Content of an inode that grows line by line.
pub(crate) struct Text<'a> {
    pub(crate) state: &'a mut State,
    inode: u32,
    size: u64,
    error: Option<Errno>,
}

impl<'a> Text<'a> {
    /// An empty content.
    pub(crate) fn new(state: &'a mut State, inode: u32) -> Self {
        Self {
            state,
            inode,
            size: 0,
            error: None,
        }
    }

    /// Appends bytes.
    pub(crate) fn put(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && self.error.is_none() {
            let files = &mut self.state.files.tree.files;
            match files.write(self.inode, self.size, bytes, &mut self.state.frames) {
                Ok(count) => {
                    self.size += count as u64;
                    bytes = bytes.get(count..).unwrap_or_default();
                }
                Err(_) => self.error = Some(Errno::ENOMEM),
            }
        }
    }

    /// Appends a text.
    pub(crate) fn print(&mut self, text: fmt::Arguments<'_>) {
        let mut line = Line::<LINE>::new();
        // Writing to a `Line` never fails: it truncates.
        let _ = line.write_fmt(text);
        self.put(line.as_str().as_bytes());
    }

    /// The result of all that was appended.
    pub(crate) fn end(self) -> Result<(), Errno> {
        self.error.map_or(Ok(()), Err)
    }
}
