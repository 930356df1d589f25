//! The program of a process.

use super::State;
use crate::process::NAME;
use crate::slot::Slot;
use heapless::String;
use tenon_program::{self as program, Errno, Space};
use tenon_vfs::{Kind, Path, ROOT, Tree};

impl State {
    /// Fails as [`execute`](Self::execute) would where a file is no program.
    pub fn check_program(&self, slot: &Slot, path: &str) -> Result<(), Errno> {
        let (file, _) = self.executable(slot, path)?;
        match program::script(file) {
            Some((interpreter, _)) => program::check(self.executable(slot, interpreter)?.0),
            None => program::check(file),
        }
    }

    /// The file of a program, and its name without symbolic links.
    fn executable(
        &self,
        slot: &Slot,
        path: &str,
    ) -> Result<(&'static [u8], String<{ NAME - 1 }>), Errno> {
        let process = self.processes[self.process_index(slot)?].as_ref();
        let directory = process.ok_or(Errno::ESRCH)?.directory;
        let mut path = Path::of(path.as_bytes())?;
        let found = self.files.tree.find(directory, &mut path, true)?;
        let file = program_of(&self.files.tree, found.inode()?)?;
        let mut name = String::new();
        let text = core::str::from_utf8(path.text(&found.name)).unwrap_or_default();
        for character in text.chars() {
            if name.push(character).is_err() {
                break;
            }
        }
        Ok((file, name))
    }

    /// Loads a program into a new address space of a process, which replaces the present one.
    pub(super) fn load(
        &mut self,
        slot: &'static Slot,
        path: &str,
    ) -> Result<program::Start, Errno> {
        let (mut file, mut name) = self.executable(slot, path)?;
        let mut path = path;
        if let Some((interpreter, argument)) = program::script(file) {
            match argument {
                Some(argument) => self.strings.replace_first(&[interpreter, argument, path])?,
                None => self.strings.replace_first(&[interpreter, path])?,
            }
            (file, name) = self.executable(slot, interpreter)?;
            path = interpreter;
        }
        let random = self.random();
        let tree = &self.files.tree;
        let lookup = |path: &str| {
            let found = tree.find(ROOT, &mut Path::of(path.as_bytes())?, true)?;
            program_of(tree, found.inode()?)
        };
        let asid = self.process_index(slot)? as u8 + 1;
        let mut space = Space::new(self.kernel, asid, &mut self.frames)?;
        let loaded = program::load(
            &mut space,
            file,
            (self.strings, path),
            &lookup,
            &random,
            &mut self.frames,
        );
        let start = match loaded {
            Ok(start) => start,
            Err(error) => {
                space.release(&mut self.frames);
                return Err(error);
            }
        };
        let base = space.translation_base();
        let (process, frames, _) = self.parts(slot)?;
        process.heap = start.heap..start.heap;
        process.set_name(&name);
        if let Some(before) = process.space.replace(space) {
            // SAFETY: the tables have the kernel's entries, and stay until `finish` or the next
            // program.
            unsafe { slot.space.switch_base(base) };
            before.release(frames);
        }
        Ok(start)
    }

    /// Replaces the program of the calling process; its arguments are in `strings`.
    pub fn execute(&mut self, slot: &'static Slot, path: &str) -> Result<(), Errno> {
        let start = self.load(slot, path)?;
        let (process, frames, files) = self.parts(slot)?;
        process.files.close_all(true, files, frames);
        process.own_program = true;
        let number = process.number;
        let thread = self.thread(slot)?;
        (thread.clear_number, thread.robust_list) = (0, 0);
        // It is the only thread, and becomes the first one.
        thread.number = number;
        slot.set_number(number);
        slot.space.clear();
        slot.begin(start.pc, start.sp);
        Ok(())
    }
}

/// The content of a program's file.
fn program_of(tree: &Tree, number: u32) -> Result<&'static [u8], Errno> {
    let inode = tree.files.inode(number)?;
    if inode.kind != Kind::File || inode.permissions & 0o111 == 0 {
        return Err(Errno::EACCES);
    }
    tree.files.unwritten(number).ok_or(Errno::ENOEXEC)
}
