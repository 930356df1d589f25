//! State of all processes, behind one mutex.

use crate::call::NUMBERS as NUMBERS_OF_CALLS;
use crate::errno::Errno;
use crate::file::Files;
use crate::process::{Descriptors, End, NAME, Process, descriptor_limit};
use crate::program::{self, Space, Strings};
use crate::thread::{Slot, slots};
use core::fmt::{self, Write as _};
use core::ops::Range;
use core_log::Line;
use heapless::String;
use tenon_address_space::{Access, KernelPart, PAGE};
use tenon_frames::Frames;
use tenon_sync::Mutex;
use tenon_thread::{output, thread};
use tenon_vfs::{Device, Kind, Path, ROOT, Tree};

/// Bytes of a line about a process: with a system call of `tenon-strace`.
const REPORT: usize = if cfg!(feature = "strace") { 220 } else { 96 };
/// Number of the first process.
const FIRST: u32 = 1;
/// Numbers of processes lie below.
const NUMBERS: u32 = 1 << 22;

/// State of all processes.
#[derive(Debug)]
pub struct State {
    /// Frames of the memory of processes.
    pub frames: Frames,
    /// Bytes of all frames.
    total: usize,
    /// The kernel's entries of level 1.
    kernel: KernelPart,
    /// TTBR0_EL1 without a process.
    kernel_base: u64,
    /// The file tree and open files.
    pub files: Files,
    /// Arguments of the program that is being loaded.
    pub strings: &'static mut Strings,
    /// The process of each slot.
    processes: &'static mut [Option<Process>],
    last: u32,
    entropy: u64,
    /// Numbers of system calls that are reported as unserved.
    unserved: [u64; NUMBERS_OF_CALLS / 64],
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// Calls `action` with the state.
///
/// # Panics
///
/// Without a start: no process exists then.
pub fn with_state<R>(action: impl FnOnce(&mut State) -> R) -> R {
    let mut guard = STATE
        .lock()
        .expect("a thread ended with the state of processes");
    action(guard.as_mut().expect("processes have not been started"))
}

/// Calls `attempt` until it has a result; in between, waits for a change of the state.
pub fn wait<R>(
    slot: &'static Slot,
    mut attempt: impl FnMut(&mut State) -> Result<Option<R>, Errno>,
) -> Result<R, Errno> {
    loop {
        let result = with_state(|state| {
            let result = attempt(state);
            let waits = matches!(result, Ok(None));
            if let Ok(process) = state.process(slot) {
                process.waits = waits;
            }
            result
        })?;
        if let Some(result) = result {
            return Ok(result);
        }
        thread::park();
    }
}

impl State {
    /// Begins without a process, in a range of memory.
    ///
    /// # Safety
    ///
    /// The memory is mapped one to one, and used by no other code.
    pub(crate) unsafe fn install(
        memory: Range<usize>,
        archive: &'static [u8],
        entropy: u64,
    ) -> Result<(), Errno> {
        let mut start = memory.start.next_multiple_of(PAGE);
        let mut reserve = |size: usize| {
            let place = start;
            start += size.next_multiple_of(PAGE);
            (start <= memory.end).then_some(place).ok_or(Errno::ENOMEM)
        };
        let strings = reserve(size_of::<Strings>())? as *mut Strings;
        let count = slots().len();
        let processes = reserve(count * size_of::<Option<Process>>())? as *mut Option<Process>;
        // SAFETY: the places are of that size, aligned to pages, and of this state alone; zeros are
        // strings, and each process is written before the slice exists.
        let (strings, processes) = unsafe {
            for byte in 0..size_of::<Strings>() / size_of::<u64>() {
                strings.cast::<u64>().add(byte).write(0);
            }
            for index in 0..count {
                processes.add(index).write(None);
            }
            (
                &mut *strings,
                core::slice::from_raw_parts_mut(processes, count),
            )
        };
        // SAFETY: what is behind the reserved places is of the frames alone.
        let mut frames = unsafe { Frames::new(start..memory.end) };
        let total = frames.available() * PAGE;
        let tree = Tree::new(archive, &mut frames)?;
        let state = Self {
            total,
            frames,
            // SAFETY: no entry is used.
            kernel: unsafe { KernelPart::new([0; 4]) },
            kernel_base: 0,
            files: Files::new(tree),
            strings,
            processes,
            last: 0,
            entropy,
            unserved: [0; NUMBERS_OF_CALLS / 64],
        };
        *STATE.lock().map_err(|_| Errno::EAGAIN)? = Some(state);
        Ok(())
    }

    /// Takes the kernel's entries of level 1 for the tables of processes; returns the root of tables
    /// without a process.
    ///
    /// # Safety
    ///
    /// As for [`KernelPart::new`].
    pub(crate) unsafe fn set_kernel(&mut self, entries: [u64; 4]) -> Result<usize, Errno> {
        // SAFETY: as the caller promises.
        self.kernel = unsafe { KernelPart::new(entries) };
        let root = self.frames.allocate().ok_or(Errno::ENOMEM)?;
        root.write(0, entries.map(u64::to_le_bytes).as_flattened());
        let root = root.into_address();
        self.kernel_base = root as u64;
        Ok(root)
    }

    /// The process of a slot.
    pub fn process(&mut self, slot: &Slot) -> Result<&mut Process, Errno> {
        self.parts(slot).map(|(process, ..)| process)
    }

    /// The process of a slot, the frames and the open files.
    pub fn parts(&mut self, slot: &Slot) -> Result<(&mut Process, &mut Frames, &mut Files), Errno> {
        let index = index_of(slot);
        let process = self.processes.get_mut(index).and_then(Option::as_mut);
        Ok((
            process.ok_or(Errno::ESRCH)?,
            &mut self.frames,
            &mut self.files,
        ))
    }

    /// The process of a slot, the frames and the strings of the program that it loads.
    pub(crate) fn with_strings(
        &mut self,
        slot: &Slot,
    ) -> Result<(&mut Process, &mut Frames, &mut Strings), Errno> {
        let index = index_of(slot);
        let process = self.processes.get_mut(index).and_then(Option::as_mut);
        let process = process.ok_or(Errno::ESRCH)?;
        Ok((process, &mut self.frames, self.strings))
    }

    /// Bytes of memory for processes, those of it that are free, and the number of processes.
    #[must_use]
    pub fn usage(&self) -> (usize, usize, usize) {
        let free = self.frames.available() * PAGE;
        (self.total, free, self.processes.iter().flatten().count())
    }

    /// Whether a process has its own program or has ended.
    #[must_use]
    pub fn has_own_program(&self, number: u32) -> bool {
        let mut all = self.processes.iter().flatten();
        all.find(|process| process.number == number)
            .is_none_or(|process| process.own_program || process.end.is_some())
    }

    /// 32 bytes that differ from program to program.
    pub fn random(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for word in bytes.chunks_mut(8) {
            // SplitMix64: places vary by it; keys come from the TRNG of Mortise.
            self.entropy = self.entropy.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.entropy;
            mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            word.copy_from_slice(&(mixed ^ mixed >> 31).to_le_bytes());
        }
        bytes
    }

    /// A free slot with its index.
    fn free_slot(&self) -> Result<(usize, &'static Slot), Errno> {
        let mut all = self.processes.iter().zip(slots()).enumerate();
        all.find(|(_, (process, slot))| process.is_none() && slot.is_free())
            .map(|(index, (_, slot))| (index, slot))
            .ok_or(Errno::EAGAIN)
    }

    /// A number that no process has.
    fn allocate_number(&mut self) -> u32 {
        loop {
            self.last = self.last % (NUMBERS - 1) + 1;
            let taken = |process: &Process| process.number == self.last;
            if !self.processes.iter().flatten().any(taken) {
                return self.last;
            }
        }
    }

    /// Starts the first process, whose arguments are in `strings`, with the console as descriptors 0
    /// to 2. Returns its number.
    pub(crate) fn start(&mut self, path: &str) -> Result<u32, Errno> {
        let (index, slot) = self.free_slot()?;
        let number = self.allocate_number();
        let asid = index as u8 + 1;
        let space = Space::new(self.kernel, asid, &mut self.frames)?;
        self.processes[index] = Some(Process {
            number,
            parent: 0,
            space: Some(space),
            heap: 0..0,
            files: Descriptors::new(descriptor_limit()),
            directory: ROOT,
            mask: 0o22,
            name: String::new(),
            end: None,
            own_program: false,
            waits: false,
        });
        let started = self.begin(slot, path);
        if let Err(error) = started {
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
        slot.spawn(number, 0, base)
    }

    /// The file of a program, and its name without symbolic links.
    fn executable(
        &mut self,
        slot: &Slot,
        path: &str,
    ) -> Result<(&'static [u8], String<{ NAME - 1 }>), Errno> {
        let directory = self.process(slot)?.directory;
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
    fn load(&mut self, slot: &'static Slot, path: &str) -> Result<program::Start, Errno> {
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
        let asid = index_of(slot) as u8 + 1;
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
        slot.space.clear();
        slot.begin(start.pc, start.sp);
        Ok(())
    }

    /// Creates a copy of the calling process; returns its number. Its thread pointer is `pointer`, if
    /// there is one, its stack pointer `stack` if that is not zero; it finds its number at
    /// `child_number`, if there is such an address.
    pub fn fork(
        &mut self,
        caller: &'static Slot,
        stack: u64,
        pointer: Option<u64>,
        child_number: Option<usize>,
    ) -> Result<u32, Errno> {
        let (index, slot) = self.free_slot()?;
        let number = self.allocate_number();
        let kernel = self.kernel;
        let (parent, frames, files) = self.parts(caller)?;
        let mut descriptors = parent.files.share(files, frames)?;
        let forked = parent.space()?.fork(kernel, index as u8 + 1, frames);
        let mut space = forked.inspect_err(|_| descriptors.close_all(false, files, frames))?;
        files.tree.files.hold(parent.directory);
        if let Some(to) = child_number {
            // As in Linux, an address that cannot be written is no error.
            let _ = space.write(to, &number.to_le_bytes(), frames);
        }
        let base = space.translation_base();
        let child = Process {
            number,
            parent: parent.number,
            space: Some(space),
            heap: parent.heap.clone(),
            files: descriptors,
            directory: parent.directory,
            mask: parent.mask,
            name: parent.name.clone(),
            end: None,
            own_program: false,
            waits: false,
        };
        let parent = parent.number;
        self.processes[index] = Some(child);
        slot.copy(caller, stack);
        if let Some(pointer) = pointer {
            slot.space.set_pointer(pointer);
        }
        if let Err(error) = slot.spawn(number, parent, base) {
            self.discard(index);
            return Err(error);
        }
        Ok(number)
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

    /// Wakes all threads that wait for a change.
    pub fn wake(&mut self) {
        for (process, slot) in self.processes.iter_mut().zip(slots()) {
            if let Some(process) = process
                && process.waits
            {
                process.waits = false;
                slot.thread().unpark();
            }
        }
    }

    /// Ends the calling process.
    pub fn exit(&mut self, slot: &Slot, end: End) -> Result<(), Errno> {
        let process = self.process(slot)?;
        process.end = Some(end);
        slot.end();
        Ok(())
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

    /// Releases what a process that ended had. Its own thread calls this, as its last act.
    pub(crate) fn finish(slot: &'static Slot) {
        with_state(|state| {
            // SAFETY: the table of the kernel alone stays for good.
            unsafe { tenon_user::bind(None, state.kernel_base) };
            let Ok((process, frames, files)) = state.parts(slot) else {
                return;
            };
            process.files.close_all(false, files, frames);
            files.tree.files.let_go(process.directory, frames);
            process.directory = ROOT;
            if let Some(space) = process.space.take() {
                space.release(frames);
            }
            // A thread that left without `exit` counts as killed.
            process.end.get_or_insert(End::Signal(9));
            let number = process.number;
            state.orphan(number);
            let index = index_of(slot);
            if let Some(process) = &mut state.processes[index] {
                // Without a parent, nothing collects it.
                if process.parent == 0 {
                    report_end(process);
                    if process.number == FIRST {
                        crate::first::end_vm();
                    }
                    state.processes[index] = None;
                }
            }
            state.wake();
        });
    }

    /// Gives the children of a process to the first one.
    fn orphan(&mut self, number: u32) {
        let mut all = self.processes.iter().flatten();
        let first = all.any(|process| process.number == FIRST && process.end.is_none());
        let heir = if first { FIRST } else { 0 };
        for (place, slot) in self.processes.iter_mut().zip(slots()) {
            let Some(process) = place else { continue };
            if process.parent != number {
                continue;
            }
            process.parent = heir;
            slot.set_parent(process.parent);
            if process.parent == 0 && process.end.is_some() && process.space.is_none() {
                *place = None;
            }
        }
    }

    /// Serves an abort of EL0.
    pub(crate) fn fault(
        &mut self,
        slot: &Slot,
        address: usize,
        access: Access,
    ) -> Result<(), Errno> {
        let (process, frames, _) = self.parts(slot)?;
        Ok(process.space()?.fault(address, access, frames)?)
    }

    /// Reports a system call that no library serves, once for each number.
    pub(crate) fn report_unserved(&mut self, slot: &Slot, number: u64) {
        let index = (number as usize).min(NUMBERS_OF_CALLS - 1);
        let (word, bit) = (&mut self.unserved[index / 64], 1 << (index % 64));
        if *word & bit == 0 {
            *word |= bit;
            if let Ok(process) = self.process(slot) {
                let name = process.name();
                report(format_args!(
                    "{name} makes system call {number}, which no library serves"
                ));
            }
        }
    }
}

/// Writes a line about a process, a few bytes with interrupts masked at a time: a process can cause
/// such lines at any time.
pub(crate) fn report(text: fmt::Arguments<'_>) {
    let mut line = Line::<{ REPORT }>::new();
    // Writing to a `Line` never fails: it truncates.
    let _ = writeln!(line, "{text}");
    output::write(line.as_str().as_bytes());
}

/// Reports the end of the first process.
fn report_end(process: &Process) {
    let name = process.name();
    match process.end {
        Some(End::Exit(0)) => report(format_args!("{name} has ended")),
        Some(End::Exit(code)) => report(format_args!("{name} has ended with {code}")),
        Some(End::Signal(signal)) => {
            report(format_args!("{name} was ended by signal {signal}"));
        }
        None => {}
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

/// The index of a slot, which is that of its process.
fn index_of(slot: &Slot) -> usize {
    let first = slots().as_ptr() as usize;
    (core::ptr::from_ref(slot) as usize).wrapping_sub(first) / size_of::<Slot>()
}
