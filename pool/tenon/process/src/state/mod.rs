//! State of all processes, behind one mutex.

mod delivery;
mod family;
mod futex;
mod life;
mod memory;
mod observe;
mod program;
mod signal;
mod wait;

pub(crate) use delivery::attend;
pub(crate) use tenon_process_slot::index_of;
pub use wait::wait_on;
pub(crate) use wait::wait_until;

use core::fmt::{self, Write as _};
use core::ops::Range;
use core_log::Line;
use tenon_address_space::{Access, Denied, KernelPart, PAGE};
use tenon_entropy::Generator;
use tenon_files::Files;
use tenon_frames::Frames;
use tenon_process_slot::{Hook, Hooks, Key, NUMBERS as NUMBERS_OF_CALLS};
use tenon_process_slot::{Process, Scheduler, Slot, Thread, Vectors, limit, serves, slots};
use tenon_program::{Errno, Strings};
use tenon_schedule::{Entry, Rows};
use tenon_signal::{Own, Shared, Signals, frame::Buffers};
use tenon_sync::Mutex;
use tenon_thread::output;
use tenon_vfs::{Path, Tree};

/// Bytes of a line about a process: with a system call of `tenon-strace`.
const REPORT: usize = if cfg!(feature = "strace") { 220 } else { 96 };
/// The number of the system call that gives descriptions owners.
const FCNTL: usize = 25;
/// Number of the first process.
const FIRST: u32 = 1;
/// Numbers of processes and threads lie below.
const NUMBERS: u32 = 1 << 22;

/// A function that is told of the end of each process, by its number.
pub type AtEnd = Hook<fn(&mut State, u32)>;

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
    /// Signals of processes and threads, by their indices.
    pub signals: Signals,
    /// Arguments of the program that is being loaded.
    pub strings: &'static mut Strings,
    processes: Rows<'static, Process>,
    /// The thread in each slot.
    threads: Rows<'static, Thread>,
    /// How each of them is scheduled.
    pub scheduler: Scheduler,
    last: u32,
    /// Counts waits, which gives those of one event their order.
    waits: u64,
    /// Waits for several futexes.
    pub vectors: Vectors,
    /// Told of the end of each process: functions of libraries ([`AtEnd`]).
    pub on_end: Hooks<fn(&mut State, u32)>,
    /// Told of each signal that has become pending: the number of its process, and its own.
    pub on_signal: Option<fn(&mut State, u32, u8)>,
    /// Sends signals for events that were noted for owners of descriptions, while no thread holds this.
    pub on_owned: Option<fn()>,
    /// The generator of random numbers.
    pub entropy: Generator,
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
    let state = guard.as_mut().expect("processes have not been started");
    let result = action(state);
    if state.files.has_news()
        && let Some(send) = state.tell()
    {
        drop(guard);
        send();
    }
    result
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
    ) -> Result<(), Errno> {
        let mut start = memory.start.next_multiple_of(PAGE);
        let mut reserve = |size: usize| {
            let place = start;
            start += size.next_multiple_of(PAGE);
            (start <= memory.end).then_some(place).ok_or(Errno::ENOMEM)
        };
        let strings = reserve(size_of::<Strings>())? as *mut Strings;
        let path = reserve(size_of::<Path>())? as *mut Path;
        let (count, slots) = (limit(), slots().len());
        let processes = reserve(count * size_of::<Option<Process>>())? as *mut Option<Process>;
        let threads = reserve(slots * size_of::<Option<Thread>>())? as *mut Option<Thread>;
        let shared = reserve(count * size_of::<Shared>())? as *mut Shared;
        let own = reserve(slots * size_of::<Own>())? as *mut Own;
        let buffers = reserve(size_of::<Buffers>())? as *mut Buffers;
        let entries = slots * size_of::<Option<Entry<Key>>>();
        let entries = reserve(entries)? as *mut Option<Entry<Key>>;
        // SAFETY: the places are of that size, aligned to pages, and of this state alone; zeros are
        // strings, and each process, thread and entry is written before its slice exists.
        let (strings, path, processes, threads, entries, signals) = unsafe {
            strings.write_bytes(0, 1);
            path.write(Path::new());
            buffers.write(Buffers::NEW);
            for index in 0..count {
                processes.add(index).write(None);
                shared.add(index).write(Shared::NEW);
            }
            for index in 0..slots {
                threads.add(index).write(None);
                entries.add(index).write(None);
                own.add(index).write(Own::NEW);
            }
            (
                &mut *strings,
                &mut *path,
                core::slice::from_raw_parts_mut(processes, count),
                core::slice::from_raw_parts_mut(threads, slots),
                core::slice::from_raw_parts_mut(entries, slots),
                Signals::new(
                    core::slice::from_raw_parts_mut(shared, count),
                    core::slice::from_raw_parts_mut(own, slots),
                    &mut *buffers,
                ),
            )
        };
        // SAFETY: what is behind the reserved places is of the frames alone.
        let mut frames = unsafe { Frames::new(start..memory.end).copying_by(tenon_user::copy) };
        let total = frames.available() * PAGE;
        let mut files = Files::new(Tree::new(archive, &mut frames)?);
        files.path = Some(path);
        let state = Self {
            total,
            frames,
            kernel: KernelPart::EMPTY,
            kernel_base: 0,
            files,
            signals,
            strings,
            processes: Rows::new(processes),
            threads: Rows::new(threads),
            scheduler: Scheduler::new(entries),
            last: 0,
            waits: 0,
            vectors: Vectors::new(),
            on_end: Hooks::new(),
            on_signal: None,
            on_owned: None,
            entropy: Generator::new(),
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

    /// Wakes the threads that events have woken; the function that tells owners of descriptions of them.
    #[cold]
    fn tell(&mut self) -> Option<fn()> {
        let woken = self.files.take_woken();
        self.wake_enlisted(woken);
        let noted = serves(FCNTL) && self.files.take_noted();
        self.on_owned.filter(|_| noted)
    }

    /// The thread in a slot.
    #[inline]
    pub fn thread(&mut self, slot: &Slot) -> Result<&mut Thread, Errno> {
        self.threads.row_mut(index_of(slot)).ok_or(Errno::ESRCH)
    }

    fn put_thread(&mut self, slot: &Slot, thread: Thread) {
        slot.set_home(Some(thread.process));
        self.threads.put(index_of(slot), thread);
    }

    fn remove_thread(&mut self, slot: &Slot) {
        slot.set_home(None);
        self.threads[index_of(slot)] = None;
    }

    /// The index of a slot's process.
    #[inline]
    fn process_index(&self, slot: &Slot) -> Result<usize, Errno> {
        self.look(slot).map(|_| slot.home())
    }

    /// The process of a slot, as it is.
    pub(crate) fn look(&self, slot: &Slot) -> Result<&Process, Errno> {
        self.processes.row(slot.home()).ok_or(Errno::ESRCH)
    }

    /// The process of a slot.
    pub fn process(&mut self, slot: &Slot) -> Result<&mut Process, Errno> {
        self.parts(slot).map(|(process, ..)| process)
    }

    /// As [`parts`](Self::parts), and the signals.
    #[inline]
    pub fn parts_with_signals(
        &mut self,
        slot: &Slot,
    ) -> Result<(&mut Process, &mut Frames, &mut Files, &mut Signals), Errno> {
        Ok((
            self.processes.row_mut(slot.home()).ok_or(Errno::ESRCH)?,
            &mut self.frames,
            &mut self.files,
            &mut self.signals,
        ))
    }

    /// The process of a slot, the frames and the open files.
    #[inline]
    pub fn parts(&mut self, slot: &Slot) -> Result<(&mut Process, &mut Frames, &mut Files), Errno> {
        let (process, frames, files, _) = self.parts_with_signals(slot)?;
        Ok((process, frames, files))
    }

    /// The process of a slot, the frames and the strings of the program that it loads.
    pub(crate) fn with_strings(
        &mut self,
        slot: &Slot,
    ) -> Result<(&mut Process, &mut Frames, &mut Strings), Errno> {
        let process = self.processes.row_mut(slot.home()).ok_or(Errno::ESRCH)?;
        Ok((process, &mut self.frames, self.strings))
    }

    /// The slots of the threads of a process.
    fn slots_of(&self, process: usize) -> impl Iterator<Item = (usize, &'static Slot)> {
        let threads = self.threads.iter().zip(slots()).enumerate();
        threads.filter_map(move |(index, (thread, slot))| {
            let belongs = thread
                .as_ref()
                .is_some_and(|thread| thread.process == process);
            belongs.then_some((index, slot))
        })
    }

    /// Whether a process has no more than one thread.
    fn is_only_thread(&self, process: usize) -> bool {
        slots().len() == 1 || self.slots_of(process).count() < 2
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
            .is_none_or(|process| {
                process.lender.is_none() && (process.own_program || process.end.is_some())
            })
    }

    /// Serves an abort of EL0.
    pub(crate) fn fault(
        &mut self,
        slot: &Slot,
        address: usize,
        access: Access,
    ) -> Result<(), Denied> {
        let (process, frames, _) = self.parts(slot).map_err(|_| Denied::NoArea)?;
        process.usage.faults += 1;
        let space = process.space().map_err(|_| Denied::NoArea)?;
        space.fault(address, access, frames)
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
