//! Creation and end of processes and threads.

use super::{FIRST, NUMBERS, State, index_of, report, report_end, with_state};
use crate::execution::live;
use crate::process::{Descriptors, End, Process, descriptor_limit};
use crate::slot::{Slot, slots};
use crate::thread::{NewThread, Thread};
use tenon_program::{Errno, Space};
use tenon_vfs::{Device, Path, ROOT};

impl State {
    /// A free slot with its index.
    fn free_slot(&self) -> Result<(usize, &'static Slot), Errno> {
        let mut all = self.threads.iter().zip(slots()).enumerate();
        all.find(|(_, (thread, slot))| thread.is_none() && slot.is_free())
            .map(|(index, (_, slot))| (index, slot))
            .ok_or(Errno::EAGAIN)
    }

    /// The index of a process that does not exist.
    fn free_process(&self) -> Result<usize, Errno> {
        let free = self.processes.iter().position(Option::is_none);
        free.ok_or(Errno::EAGAIN)
    }

    /// A number that no process and no thread has.
    fn allocate_number(&mut self) -> u32 {
        loop {
            self.last = self.last % (NUMBERS - 1) + 1;
            let last = self.last;
            let mut processes = self.processes.iter().flatten();
            let mut threads = self.threads.iter().flatten();
            if !processes.any(|process| process.number == last)
                && !threads.any(|thread| thread.number == last)
            {
                return last;
            }
        }
    }

    /// Starts the first process, with its arguments in `strings` and the console as descriptors 0 to 2.
    /// Returns its number.
    pub(crate) fn start(&mut self, path: &str) -> Result<u32, Errno> {
        let (place, slot) = self.free_slot()?;
        let index = self.free_process()?;
        let number = self.allocate_number();
        let asid = index as u8 + 1;
        let space = Space::new(self.kernel, asid, &mut self.frames)?;
        let files = Descriptors::new(descriptor_limit());
        self.processes[index] = Some(Process::new((number, 0), space, files, ROOT));
        self.threads[place] = Some(Thread::new(number, index));
        let started = self.begin(slot, path);
        if let Err(error) = started {
            self.threads[place] = None;
            self.discard(index);
            return Err(error);
        }
        Ok(number)
    }

    fn begin(&mut self, slot: &'static Slot, path: &str) -> Result<(), Errno> {
        let start = self.load(slot, path)?;
        let mut console = Path::of(b"/dev/console")?;
        let found = self.files.tree.find(ROOT, &mut console, true)?;
        let inode = found.inode()?;
        let (process, frames, files) = self.parts(slot)?;
        files.tree.files.hold(process.directory);
        for _ in 0..3 {
            let object = crate::file::Object::Device(Device::Console, inode);
            let file = files.open(object, 2, frames)?;
            if let Err(file) = process.install(file, false, 0, frames) {
                files.close(file, frames);
            }
        }
        slot.begin(start.pc, start.sp);
        let process = self.process(slot)?;
        let (number, base) = (process.number, process.space()?.translation_base());
        slot.spawn((number, number), 0, base, live)
    }

    /// Creates a copy of the calling process, with a copy of the calling thread; returns its number.
    pub fn fork(&mut self, caller: &'static Slot, new: &NewThread) -> Result<u32, Errno> {
        let (place, slot) = self.free_slot()?;
        let index = self.free_process()?;
        let number = self.allocate_number();
        let kernel = self.kernel;
        let (parent, frames, files) = self.parts(caller)?;
        let mut descriptors = parent.files.share(files, frames)?;
        let forked = parent.space()?.fork(kernel, index as u8 + 1, frames);
        let mut space = forked.inspect_err(|_| descriptors.close_all(false, files, frames))?;
        files.tree.files.hold(parent.directory);
        if let Some(to) = new.own_number {
            // As in Linux, an address that cannot be written is no error.
            let _ = space.write(to, &number.to_le_bytes(), frames);
        }
        let base = space.translation_base();
        let child = Process {
            heap: parent.heap.clone(),
            mask: parent.mask,
            name: parent.name.clone(),
            ..Process::new(
                (number, parent.number),
                space,
                descriptors,
                parent.directory,
            )
        };
        let parent = parent.number;
        self.processes[index] = Some(child);
        let identity = (number, number);
        if let Err(error) =
            self.add_thread((place, slot), caller, new, (index, identity, parent, base))
        {
            self.discard(index);
            return Err(error);
        }
        Ok(number)
    }

    /// Creates a thread in the calling process, with the registers of the calling one; returns its
    /// number.
    pub fn create_thread(&mut self, caller: &'static Slot, new: &NewThread) -> Result<u32, Errno> {
        let free = self.free_slot()?;
        let index = self.process_index(caller)?;
        let number = self.allocate_number();
        let (process, frames, _) = self.parts(caller)?;
        if process.end.is_some() {
            return Err(Errno::EINTR);
        }
        let (identity, parent) = ((process.number, number), process.parent);
        let space = process.space()?;
        let base = space.translation_base();
        if let Some(to) = new.own_number {
            let _ = space.write(to, &number.to_le_bytes(), frames);
        }
        self.add_thread(free, caller, new, (index, identity, parent, base))?;
        Ok(number)
    }

    /// Starts a thread in a slot for a process: its index, its number and that of the thread, its
    /// parent's number, its translation base.
    fn add_thread(
        &mut self,
        (place, slot): (usize, &'static Slot),
        caller: &'static Slot,
        new: &NewThread,
        (process, identity, parent, base): (usize, (u32, u32), u32, u64),
    ) -> Result<(), Errno> {
        let mut thread = Thread::new(identity.1, process);
        thread.clear_number = new.clear_number;
        self.threads[place] = Some(thread);
        slot.copy(caller, new.stack);
        if let Some(pointer) = new.pointer {
            slot.space.set_pointer(pointer);
        }
        let spawned = slot.spawn(identity, parent, base, live);
        if spawned.is_err() {
            self.threads[place] = None;
        }
        spawned
    }

    /// Releases a process that has no thread.
    fn discard(&mut self, index: usize) {
        if let Some(mut process) = self.processes[index].take() {
            let (files, frames) = (&mut self.files, &mut self.frames);
            process.files.close_all(false, files, frames);
            files.tree.files.let_go(process.directory, frames);
            if let Some(space) = process.space {
                space.release(&mut self.frames);
            }
        }
    }

    /// A child that has ended, by its number or any: its number and end. `None` if all still run.
    pub fn collect(
        &mut self,
        slot: &Slot,
        number: Option<u32>,
        keep: bool,
    ) -> Result<Option<(u32, End)>, Errno> {
        let parent = self.process(slot)?.number;
        let mut children = false;
        for place in self.processes.iter_mut() {
            let Some(process) = place else { continue };
            if process.parent != parent || number.is_some_and(|n| n != process.number) {
                continue;
            }
            children = true;
            // Its own thread has released what it had (`finish`), and wakes the parent then.
            if let Some(end) = process.end
                && process.space.is_none()
            {
                let number = process.number;
                if !keep {
                    *place = None;
                }
                return Ok(Some((number, end)));
            }
        }
        if children {
            Ok(None)
        } else {
            Err(Errno::ECHILD)
        }
    }

    /// Ends the calling thread, and with the last one its process, which has the end of its first
    /// thread then.
    pub fn exit_thread(&mut self, slot: &Slot, code: u8) -> Result<(), Errno> {
        let number = self.thread(slot)?.number;
        let process = self.process(slot)?;
        if process.number == number {
            process.exit = Some(End::Exit(code));
        }
        slot.end();
        Ok(())
    }

    /// Ends the calling process with all its threads.
    pub fn exit(&mut self, slot: &Slot, end: End) -> Result<(), Errno> {
        let index = self.process_index(slot)?;
        self.end_process(index, end);
        Ok(())
    }

    /// Ends a process with all its threads.
    pub(crate) fn end_process(&mut self, index: usize, end: End) {
        if let Some(process) = &mut self.processes[index] {
            process.end.get_or_insert(end);
        }
        self.end_threads(index, None);
    }

    /// Ends the other threads of the calling process. Returns whether there is none any more.
    pub fn end_others(&mut self, slot: &Slot) -> Result<bool, Errno> {
        let index = self.process_index(slot)?;
        if self.slots_of(index).count() == 1 {
            return Ok(true);
        }
        self.end_threads(index, Some(index_of(slot)));
        Ok(false)
    }

    fn end_threads(&mut self, process: usize, except: Option<usize>) {
        for place in 0..self.threads.len() {
            let ends = self.threads[place].as_ref();
            if ends.is_some_and(|thread| thread.process == process) && Some(place) != except {
                slots()[place].end();
                self.wake_thread(place);
            }
        }
    }

    /// Ends the process of the calling thread by a signal, with a line on the console.
    pub(crate) fn kill(slot: &'static Slot, signal: u32) {
        with_state(|state| {
            if let Ok(process) = state.process(slot) {
                let (name, number) = (process.name(), process.number);
                report(format_args!("{name} ({number}) ended by signal {signal}"));
            }
            let _ = state.exit(slot, End::Signal(signal as u8));
        });
    }

    /// Releases what a thread that ended had, and with the last one its process. It calls this
    /// itself, as its last act.
    pub(crate) fn finish(slot: &'static Slot) {
        with_state(|state| {
            // Words that cannot be written are no error, as in Linux.
            let _ = state.end_futexes(slot);
            // SAFETY: the table of the kernel alone stays for good.
            unsafe { tenon_user::bind(None, state.kernel_base) };
            let Ok(index) = state.process_index(slot) else {
                return;
            };
            state.threads[index_of(slot)] = None;
            if state.slots_of(index).next().is_none() {
                state.finish_process(index);
            }
            state.wake();
        });
    }

    /// Releases what a process without threads had.
    fn finish_process(&mut self, index: usize) {
        let Some(process) = &mut self.processes[index] else {
            return;
        };
        let (files, frames) = (&mut self.files, &mut self.frames);
        process.files.close_all(false, files, frames);
        files.tree.files.let_go(process.directory, frames);
        process.directory = ROOT;
        if let Some(space) = process.space.take() {
            space.release(&mut self.frames);
        }
        // Without an `exit` of its first thread, the process counts as killed.
        let end = process.exit.unwrap_or(End::Signal(9));
        process.end.get_or_insert(end);
        let number = process.number;
        self.orphan(number);
        if let Some(process) = &mut self.processes[index] {
            // Without a parent, nothing collects it.
            if process.parent == 0 {
                report_end(process);
                if process.number == FIRST {
                    crate::first::end_vm();
                }
                self.processes[index] = None;
            }
        }
    }

    /// Gives the children of a process to the first one.
    fn orphan(&mut self, number: u32) {
        let mut all = self.processes.iter().flatten();
        let first = all.any(|process| process.number == FIRST && process.end.is_none());
        let heir = if first { FIRST } else { 0 };
        for (index, place) in self.processes.iter_mut().enumerate() {
            let Some(process) = place else { continue };
            if process.parent != number {
                continue;
            }
            process.parent = heir;
            for (thread, slot) in self.threads.iter().zip(slots()) {
                if thread
                    .as_ref()
                    .is_some_and(|thread| thread.process == index)
                {
                    slot.set_parent(heir);
                }
            }
            if process.parent == 0 && process.end.is_some() && process.space.is_none() {
                *place = None;
            }
        }
    }
}
