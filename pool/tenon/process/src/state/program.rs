//! The program of a process.

use super::State;
use heapless::String;
use tenon_credentials::{Credentials, EXECUTE};
use tenon_frames::{Frames, Object};
use tenon_process_slot::{NAME, Slot, lend};
use tenon_program::{self as program, Errno, LINE, Space};
use tenon_vfs::{Inode, Kind, Path, Tree};

/// The name of a program without symbolic links, and its inode.
#[derive(Debug, Default)]
struct Name(String<{ NAME - 1 }>, u32);

impl State {
    /// Fails as [`execute`](Self::execute) would where a file is no program.
    pub fn check_program(&mut self, slot: &Slot, path: &str) -> Result<(), Errno> {
        let (file, _) = self.executable(slot, path)?;
        let mut line = [0; LINE];
        let script = self.read_line(file, &mut line);
        let file = match script {
            Ok((interpreter, _)) => self.executable(slot, interpreter)?.0,
            Err(file) => file,
        };
        let checked = program::check(&file);
        self.frames.release_object(file);
        checked
    }

    /// The interpreter of a script and its argument, or the file if it is none.
    fn read_line<'a>(
        &mut self,
        file: Object,
        line: &'a mut [u8; LINE],
    ) -> Result<(&'a str, Option<&'a str>), Object> {
        let length = file.read(0, line);
        match program::script(line.get(..length).unwrap_or_default()) {
            Some(script) => {
                self.frames.release_object(file);
                Ok(script)
            }
            None => Err(file),
        }
    }

    /// A reference to the file of a program, and its name without symbolic links.
    fn executable(&mut self, slot: &Slot, path: &str) -> Result<(Object, Name), Errno> {
        let process = self.processes[self.process_index(slot)?].as_ref();
        let process = process.ok_or(Errno::ESRCH)?;
        let mut name = Name::default();
        let file = program_at(
            &mut self.files.tree,
            (process.directories(), path, &process.credentials),
            Some(&mut name),
            &mut self.frames,
        )?;
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
        let mut line = [0; LINE];
        match self.read_line(file, &mut line) {
            Err(program) => file = program,
            Ok((interpreter, argument)) => {
                match argument {
                    Some(argument) => self.strings.replace_first(&[interpreter, argument, path])?,
                    None => self.strings.replace_first(&[interpreter, path])?,
                }
                (file, name) = self.executable(slot, interpreter)?;
                path = interpreter;
            }
        }
        let loaded = self.load_file(slot, &file, path);
        self.frames.release_object(file);
        let (space, start) = loaded?;
        let base = space.translation_base();
        let index = self.process_index(slot)?;
        lend::give_back(&mut self.processes, index);
        let (process, frames, files) = self.parts(slot)?;
        process.heap = start.heap..start.heap;
        process.trampoline = start.trampoline;
        process.set_name(&name.0);
        process.stack = start.sp;
        let program = process.program.replace(name.1);
        files.tree.files.hold(name.1);
        if let Some(before) = program {
            files.tree.files.let_go(before, frames);
        }
        if let Some(before) = process.space.replace(space) {
            // SAFETY: the tables have the kernel's entries, and stay until `finish` or the next
            // program.
            unsafe { slot.space.switch_base(base) };
            before.release(frames);
            // What it shared alone.
            while frames.reclaim() {}
        }
        Ok(start)
    }

    /// A new address space with a program.
    fn load_file(
        &mut self,
        slot: &Slot,
        file: &Object,
        path: &str,
    ) -> Result<(Space, program::Start), Errno> {
        let random = self.entropy.bytes();
        let index = self.process_index(slot)?;
        let process = self.processes[index].as_ref().ok_or(Errno::ESRCH)?;
        let tree = &mut self.files.tree;
        let mut lookup = |path: &str, frames: &mut Frames| {
            let place = (process.directories(), path, &process.credentials);
            program_at(tree, place, None, frames)
        };
        let mut space = Space::new(self.kernel, index as u8 + 1, &mut self.frames)?;
        let loaded = program::load(
            &mut space,
            file,
            (self.strings, path),
            &mut lookup,
            &random,
            &mut self.frames,
        );
        match loaded {
            Ok(start) => Ok((space, start)),
            Err(error) => {
                space.release(&mut self.frames);
                Err(error)
            }
        }
    }

    /// Replaces the program of the calling process; its arguments are in `strings`.
    pub fn execute(&mut self, slot: &'static Slot, path: &str) -> Result<(), Errno> {
        let start = self.load(slot, path)?;
        let (process, frames, files) = self.parts(slot)?;
        process.files.close_all(true, files, frames);
        process.own_program = true;
        process.executions = process.executions.wrapping_add(1);
        process.credentials.execute();
        process.end_signal = tenon_process_slot::SIGCHLD;
        let number = process.number;
        let (index, place) = self.indices(slot)?;
        self.signals.begin_program(index, place);
        let thread = self.thread(slot)?;
        (thread.clear_number, thread.robust_list) = (0, 0);
        // It is the only thread, and becomes the first one.
        thread.number = number;
        slot.set_number(number);
        slot.space.clear();
        // SAFETY: the thread itself calls this.
        unsafe { slot.begin(start.pc, start.sp) };
        Ok(())
    }
}

/// A reference to the file of a program, and its name without symbolic links. Not inlined: a path is
/// large for the stack of a caller.
#[inline(never)]
fn program_at(
    tree: &mut Tree,
    (places, text, credentials): ((u32, u32), &str, &Credentials),
    name: Option<&mut Name>,
    frames: &mut Frames,
) -> Result<Object, Errno> {
    let mut path = Path::of(text.as_bytes())?;
    let permits = |inode: &Inode| {
        let kind = (inode.permissions, inode.kind == Kind::Directory);
        credentials.permits((inode.user, inode.group), kind, EXECUTE)
    };
    let found = tree.find_as(places, &mut path, true, permits)?;
    let number = found.inode()?;
    let inode = tree.files.inode(number)?;
    if inode.kind != Kind::File || !permits(inode) {
        return Err(Errno::EACCES);
    }
    if let Some(Name(name, inode)) = name {
        *inode = number;
        let text = core::str::from_utf8(path.text(&found.name)).unwrap_or_default();
        for character in text.chars() {
            if name.push(character).is_err() {
                break;
            }
        }
    }
    let content = tree.files.content(number, frames);
    let content = content.map_err(|_| Errno::ENOMEM)?;
    Ok(frames.share_object(content))
}
