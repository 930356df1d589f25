//! Memory that processes share: files in address spaces, and [`Key`]s of words.

use super::State;
use tenon_address_space::PAGE;
use tenon_process_slot::Key;
use tenon_process_slot::Slot;
use tenon_program::Errno;

impl State {
    /// Changes the size of a file, by a step if it has many pages more, and removes what it loses from
    /// all address spaces; returns whether that is done.
    pub fn resize_file(&mut self, inode: u32, size: u64) -> Result<bool, Errno> {
        let files = &mut self.files.tree.files;
        let shrinks = size < files.inode(inode)?.size;
        let done = files.resize(inode, size, &mut self.frames)?;
        if done
            && shrinks
            && let Some(content) = files.mapped(inode)
        {
            // The last page has changed as well, where it lies in the image.
            let (key, first) = (content.key(), size / PAGE as u64);
            let kept = u64::from(content.has_page(first));
            self.discard_object(key, first + kept);
        }
        Ok(done)
    }

    /// Removes the pages of an object from one on from all address spaces.
    pub fn discard_object(&mut self, key: usize, first: u64) {
        let spaces = self.processes.iter_mut().flatten();
        for space in spaces.filter_map(|process| process.space.as_mut()) {
            space.discard_object(key, first, &mut self.frames);
        }
    }

    /// The key of a word of the calling thread's process.
    #[inline]
    pub fn key(&self, slot: &Slot, address: usize) -> Result<Key, Errno> {
        if !address.is_multiple_of(size_of::<u32>()) {
            return Err(Errno::EINVAL);
        }
        let process = self.processes.row(slot.home()).ok_or(Errno::ESRCH)?;
        Ok(Key::of(process.space.as_ref(), slot.home(), address))
    }

    /// The key of a word of the calling thread's process, and its value.
    #[inline]
    pub fn key_and_word(&mut self, slot: &Slot, address: usize) -> Result<(Key, u32), Errno> {
        if !address.is_multiple_of(size_of::<u32>()) {
            return Err(Errno::EINVAL);
        }
        let (process, frames, _) = self.parts(slot)?;
        let space = process.space()?;
        let key = Key::of(Some(space), slot.home(), address);
        Ok((key, space.load_word(address, frames)?))
    }
}
