//! [`Signals`]: what each process and each thread has of signals.

use crate::action::Action;
use crate::alternate_stack::AlternateStack;
use crate::frame::Buffers;
use crate::info::Info;
use crate::queue::{Entries, Full, Pending};
use crate::set::{SIGNALS, Set, number};
use tenon_frames::Frames;

/// Queued signals of a process at most.
pub const QUEUED: u32 = 256;

/// What a signal is sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A process, by its number or that of one of its threads.
    Process(u32),
    /// A thread, of a process if that is stated.
    Thread(Option<u32>, u32),
    /// The processes of a group.
    Group(u32),
    /// All processes but the sender and the first one.
    Others(u32),
}

/// What the threads of a process share.
#[derive(Debug)]
pub struct Shared {
    actions: [Action; SIGNALS as usize],
    pending: Pending,
    queued: u32,
    /// The signal that stops the process, until it continues.
    pub stopped: Option<u8>,
    /// The parent has learnt of the stop.
    pub stop_reported: bool,
}

/// What a thread has of its own.
#[derive(Debug)]
pub struct Own {
    /// Blocked signals.
    pub mask: Set,
    /// The mask from before a call that waits with another one.
    pub saved: Option<Set>,
    /// Blocked signals that end its wait.
    pub awaited: Set,
    /// Its alternate stack.
    pub stack: AlternateStack,
    /// It has stopped with its process.
    pub parked: bool,
    /// The last fault: its address and syndrome.
    pub fault: (u64, u64),
    pending: Pending,
}

/// The signals of all processes and threads, each by its index.
#[derive(Debug)]
pub struct Signals {
    shared: &'static mut [Shared],
    own: &'static mut [Own],
    entries: Entries,
    /// Frames of handlers, while they are copied.
    pub buffers: &'static mut Buffers,
}

impl Shared {
    /// Initial actions, no signal.
    pub const NEW: Self = Self {
        actions: [Action::INITIAL; SIGNALS as usize],
        pending: Pending::new(),
        queued: 0,
        stopped: None,
        stop_reported: false,
    };

    /// The action of a signal.
    pub fn action(&mut self, signal: u8) -> &mut Action {
        &mut self.actions[usize::from(signal.clamp(1, SIGNALS)) - 1]
    }
}

impl Own {
    /// Nothing blocked, no signal.
    pub const NEW: Self = Self {
        mask: Set::EMPTY,
        saved: None,
        awaited: Set::EMPTY,
        stack: AlternateStack {
            start: 0,
            size: 0,
            disarms: false,
        },
        parked: false,
        fault: (0, 0),
        pending: Pending::new(),
    };
}

impl Signals {
    /// Without a signal, for as many processes and threads as there are places.
    pub fn new(
        shared: &'static mut [Shared],
        own: &'static mut [Own],
        buffers: &'static mut Buffers,
    ) -> Self {
        Self {
            shared,
            own,
            entries: Entries::new(),
            buffers,
        }
    }

    /// What the threads of a process share.
    pub fn shared(&mut self, process: usize) -> &mut Shared {
        &mut self.shared[process]
    }

    /// What a thread has of its own.
    pub fn own(&mut self, thread: usize) -> &mut Own {
        &mut self.own[thread]
    }

    /// Begins a process with the actions of another one, or with initial ones.
    pub fn begin_process(&mut self, process: usize, parent: Option<usize>) {
        match parent.map(|parent| self.shared.get_disjoint_mut([process, parent])) {
            Some(Ok([own, parent])) => own.actions = parent.actions,
            _ => self.shared[process].actions = [Action::INITIAL; SIGNALS as usize],
        }
        let shared = &mut self.shared[process];
        (shared.stopped, shared.stop_reported) = (None, false);
    }

    /// Begins a thread: with the mask of the thread that creates it, and its alternate stack in a
    /// process of its own.
    pub fn begin_thread(&mut self, thread: usize, creator: Option<(usize, bool)>) {
        let (mask, stack) = match creator {
            Some((creator, process)) => {
                let creator = &self.own[creator];
                let mask = creator.saved.unwrap_or(creator.mask);
                (
                    mask,
                    if process {
                        creator.stack
                    } else {
                        Own::NEW.stack
                    },
                )
            }
            None => (Set::EMPTY, Own::NEW.stack),
        };
        self.own[thread] = Own {
            mask,
            stack,
            ..Own::NEW
        };
    }

    /// Begins a program: handlers are gone, ignored signals stay ignored.
    pub fn begin_program(&mut self, process: usize, thread: usize) {
        for signal in 1..=SIGNALS {
            let action = self.shared[process].action(signal);
            let handler = match action.handler {
                Action::IGNORE => Action::IGNORE,
                _ => Action::DEFAULT,
            };
            *action = Action {
                handler,
                ..Action::INITIAL
            };
        }
        self.own[thread].stack = Own::NEW.stack;
    }

    /// Removes what is pending for a thread.
    pub fn end_thread(&mut self, process: usize, thread: usize, frames: &mut Frames) {
        let queued = &mut self.shared[process].queued;
        self.own[thread]
            .pending
            .discard(!Set::EMPTY, queued, &mut self.entries, frames);
        self.own[thread] = Own::NEW;
    }

    /// Removes what is pending for a process.
    pub fn end_process(&mut self, process: usize, frames: &mut Frames) {
        let Shared {
            pending, queued, ..
        } = &mut self.shared[process];
        pending.discard(!Set::EMPTY, queued, &mut self.entries, frames);
    }

    /// Makes a signal pending for a thread of a process, or for all of them, with at most `limit`
    /// queued ones of the process. As in Linux, the limit is not that of the kernel's own signals.
    pub fn push(
        &mut self,
        process: usize,
        thread: Option<usize>,
        (info, limit): (&Info, u64),
        frames: &mut Frames,
    ) -> Result<(), Full> {
        let is_limited = info.signal >= number::REAL_TIME || info.code < 0;
        let most = match u32::try_from(limit) {
            Ok(limit) if is_limited => limit.min(QUEUED),
            _ => QUEUED,
        };
        let Shared {
            pending, queued, ..
        } = &mut self.shared[process];
        let pending = match thread {
            Some(thread) => &mut self.own[thread].pending,
            None => pending,
        };
        pending.push(info, (queued, most), &mut self.entries, frames)
    }

    /// Counts further expiries of a timer with a pending signal for a process or one of its threads;
    /// `None` if it is not pending.
    pub fn count_overrun(
        &mut self,
        process: usize,
        mut threads: impl Iterator<Item = usize>,
        timer: u32,
        missed: u32,
    ) -> Option<u32> {
        let entries = &mut self.entries;
        let pending = &self.shared[process].pending;
        let counted = pending.count_overrun(timer, missed, entries);
        counted.or_else(|| {
            threads.find_map(|thread| {
                let pending = &self.own[thread].pending;
                pending.count_overrun(timer, missed, entries)
            })
        })
    }

    /// Takes the signal of a set that is delivered to a thread first: its own before those of the
    /// process.
    pub fn take(
        &mut self,
        process: usize,
        thread: usize,
        from: Set,
        frames: &mut Frames,
    ) -> Option<Info> {
        let Shared {
            pending, queued, ..
        } = &mut self.shared[process];
        let own = &mut self.own[thread].pending;
        let taken = own.take(from, queued, &mut self.entries, frames);
        taken.or_else(|| pending.take(from, queued, &mut self.entries, frames))
    }

    /// Removes signals that are pending for a process and its threads.
    pub fn discard(
        &mut self,
        process: usize,
        threads: impl Iterator<Item = usize>,
        signals: Set,
        frames: &mut Frames,
    ) {
        let Shared {
            pending, queued, ..
        } = &mut self.shared[process];
        pending.discard(signals, queued, &mut self.entries, frames);
        for thread in threads {
            let pending = &mut self.own[thread].pending;
            pending.discard(signals, queued, &mut self.entries, frames);
        }
    }

    /// Signals that are pending for a thread: its own and those of its process.
    #[must_use]
    pub fn pending(&self, process: usize, thread: usize) -> Set {
        self.own[thread].pending.set() | self.shared[process].pending.set()
    }

    /// Signals that are pending for all threads of a process.
    #[must_use]
    pub fn pending_shared(&self, process: usize) -> Set {
        self.shared[process].pending.set()
    }

    /// Whether a thread has a signal to deliver, or is to stop.
    #[must_use]
    pub fn is_interrupted(&self, process: usize, thread: usize) -> bool {
        let deliverable = self.pending(process, thread) & !self.own[thread].mask;
        !deliverable.is_empty() || self.shared[process].stopped.is_some()
    }
}
