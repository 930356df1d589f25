//! State of all processes, behind one mutex.

mod futex;
mod life;
mod program;
mod wait;

pub use futex::WakeOperation;
pub use wait::{wait, wait_until};

use crate::call::NUMBERS as NUMBERS_OF_CALLS;
use crate::file::Files;
use crate::process::{End, Process};
use crate::slot::{Slot, limit, slots};
use crate::thread::Thread;
use core::fmt::{self, Write as _};
use core::ops::Range;
use core_log::Line;
use tenon_address_space::{Access, KernelPart, PAGE};
use tenon_frames::Frames;
use tenon_program::{Errno, Strings};
use tenon_sync::Mutex;
use tenon_thread::output;
use tenon_vfs::Tree;

/// Bytes of a line about a process: with a system call of `tenon-strace`.
const REPORT: usize = if cfg!(feature = "strace") { 220 } else { 96 };
/// Number of the first process.
const FIRST: u32 = 1;
/// Numbers of processes and threads lie below.
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
    processes: &'static mut [Option<Process>],
    /// The thread in each slot.
    threads: &'static mut [Option<Thread>],
    last: u32,
    /// Counts waits, which gives those of one event their order.
    waits: u64,
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
        let (count, slots) = (limit(), slots().len());
        let processes = reserve(count * size_of::<Option<Process>>())? as *mut Option<Process>;
        let threads = reserve(slots * size_of::<Option<Thread>>())? as *mut Option<Thread>;
        // SAFETY: the places are of that size, aligned to pages, and of this state alone; zeros are
        // strings, and each process and thread is written before its slice exists.
        let (strings, processes, threads) = unsafe {
            for byte in 0..size_of::<Strings>() / size_of::<u64>() {
                strings.cast::<u64>().add(byte).write(0);
            }
            for index in 0..count {
                processes.add(index).write(None);
            }
            for index in 0..slots {
                threads.add(index).write(None);
            }
            (
                &mut *strings,
                core::slice::from_raw_parts_mut(processes, count),
                core::slice::from_raw_parts_mut(threads, slots),
            )
        };
        // SAFETY: what is behind the reserved places is of the frames alone.
        let mut frames = unsafe { Frames::new(start..memory.end) };
        let total = frames.available() * PAGE;
        let tree = Tree::new(archive, &mut frames)?;
        let state = Self {
            total,
            frames,
            kernel: KernelPart::EMPTY,
            kernel_base: 0,
            files: Files::new(tree),
            strings,
            processes,
            threads,
            last: 0,
            waits: 0,
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

    /// The thread in a slot.
    pub fn thread(&mut self, slot: &Slot) -> Result<&mut Thread, Errno> {
        let thread = self.threads.get_mut(index_of(slot));
        thread.and_then(Option::as_mut).ok_or(Errno::ESRCH)
    }

    /// The index of a slot's process.
    fn process_index(&self, slot: &Slot) -> Result<usize, Errno> {
        let thread = self.threads.get(index_of(slot)).and_then(Option::as_ref);
        Ok(thread.ok_or(Errno::ESRCH)?.process)
    }

    /// The process of a slot.
    pub fn process(&mut self, slot: &Slot) -> Result<&mut Process, Errno> {
        self.parts(slot).map(|(process, ..)| process)
    }

    /// The process of a slot, the frames and the open files.
    pub fn parts(&mut self, slot: &Slot) -> Result<(&mut Process, &mut Frames, &mut Files), Errno> {
        let index = self.process_index(slot)?;
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
        let index = self.process_index(slot)?;
        let process = self.processes.get_mut(index).and_then(Option::as_mut);
        let process = process.ok_or(Errno::ESRCH)?;
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

/// The index of a slot, which is that of its thread.
fn index_of(slot: &Slot) -> usize {
    let first = slots().as_ptr() as usize;
    (core::ptr::from_ref(slot) as usize).wrapping_sub(first) / size_of::<Slot>()
}
