//! Port of one vLib: its shared memory and hypercalls.

use crate::{Error, call_order::CallOrder, channel_memory::ChannelMemory};
use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};
use core_ring::Area;
use hw_arch::firmware::hypercall4;
use spin::Once;
use tenon_thread::environment::{self, VlibEnd};
use tenon_thread::interrupt::{self, Trigger};
use tenon_thread::thread::{RemoteWork, run_remotely};
use tenon_thread::time::{Instant, Timer};
use tenon_thread::wait::Guarded;

/// Hypercalls (`mortise/vlib`).
const CALL: u32 = 0xc600_0401;
const STOP: u32 = 0xc600_0402;
const GO: u32 = 0xc600_0403;

/// Words of the status page, and values of the first.
const STATE: usize = 0x00;
const BEGUN: usize = 0x08;
const DONE: usize = 0x10;
const ABSENT: u64 = 0;
const LISTENING: u64 = 1;

/// Words in front of the channels, which tell the server the called channel.
const OFFSET: usize = 0x00;
const SIZE: usize = 0x08;
const HEAD: usize = 0x40;

/// No deadline.
const FOREVER: u64 = u64::MAX;

/// Owner of an unfinished call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// None: there is no call, or it was made by a former run of this VM.
    Nobody,
    /// This channel.
    Channel(usize),
}

struct State {
    memory: ChannelMemory,
    /// Owner of the call that is unfinished and not waited for.
    left: Cell<Left>,
    /// Channels with a call that another channel's call has completed, one bit each.
    answered: Cell<u32>,
}

/// Port of a vLib.
pub(crate) struct Port {
    end: Once<VlibEnd>,
    state: Guarded<State>,
    pub order: CallOrder,
    /// Expiry interrupts are counted only: the waiting thread checks the time.
    timer: Timer,
    /// Deadline of the current call, in ns of the counter.
    deadline: AtomicU64,
}

impl Port {
    pub const fn new() -> Self {
        Self {
            end: Once::new(),
            state: Guarded::new(State {
                memory: ChannelMemory::new(),
                left: Cell::new(Left::Nobody),
                answered: Cell::new(0),
            }),
            order: CallOrder::new(),
            timer: Timer::new(|| {}),
            deadline: AtomicU64::new(FOREVER),
        }
    }

    /// Assigns the port to the vLib of this name, as long as the image runs.
    pub fn open(&self, name: &str) -> Result<(), Error> {
        if self.end.get().is_some() {
            return Ok(());
        }
        let end = environment::vlib(name).ok_or(Error::Absent)?;
        let registered = interrupt::register(end.interrupt, Trigger::Edge, |_| {});
        registered.map_err(|_| Error::Interrupt(end.interrupt))?;
        self.end.call_once(|| end);
        Ok(())
    }

    fn end(&self) -> Result<&VlibEnd, Error> {
        self.end.get().ok_or(Error::Absent)
    }

    /// Allocates memory for a channel; returns its number.
    pub fn allocate(&self, size: usize) -> Result<usize, Error> {
        let end = self.end()?.memory.len();
        let taken = self
            .state
            .masked(|state, _| state.memory.allocate(size, HEAD, end));
        taken.ok_or(Error::NoMemory)
    }

    /// Frees a channel, unless the server still has its call.
    pub fn free(&self, channel: usize) -> Result<(), Error> {
        let under_way = self.is_under_way();
        self.state.masked(|state, _| {
            if state.left.get() == Left::Channel(channel) {
                if under_way {
                    return Err(Error::Busy);
                }
                state.left.set(Left::Nobody);
            }
            state.answered.update(|set| set & !(1 << channel));
            state.memory.free(channel);
            Ok(())
        })
    }

    /// The memory of a channel.
    pub fn memory(&self, channel: usize) -> Option<Area<'static>> {
        let (offset, size) = self.part(channel);
        self.end.get()?.memory.part(offset, size)
    }

    fn part(&self, channel: usize) -> (usize, usize) {
        self.state.masked(|state, _| state.memory.of(channel))
    }

    fn status(&self, word: usize) -> u64 {
        let end = self.end.get();
        end.map_or(0, |end| end.status.load(word, Ordering::Acquire))
    }

    /// Whether the server has an unfinished call.
    fn is_under_way(&self) -> bool {
        self.status(STATE) > LISTENING
    }

    /// Makes or continues the call of a channel, which holds the turn; returns at its end or at the
    /// deadline.
    pub fn call(&'static self, channel: usize, deadline: Option<Instant>) -> Result<(), Error> {
        let end = self.end()?;
        let nanoseconds = deadline.map_or(FOREVER, Instant::nanoseconds);
        self.deadline.store(nanoseconds, Ordering::Relaxed);
        if let Some(deadline) = deadline {
            self.timer.start(deadline);
        }
        let result = self.make(end, channel);
        if deadline.is_some() {
            self.timer.cancel();
        }
        result
    }

    fn make(&'static self, end: &VlibEnd, channel: usize) -> Result<(), Error> {
        if self.was_answered(channel) {
            return Ok(());
        }
        if self.is_under_way() {
            let left = self.state.masked(|state, _| state.left.get());
            let ended = self.wait(end, left, || Self::order(end, GO));
            match left {
                Left::Channel(other) if other != channel => match ended {
                    Ok(()) => self.note_answered(other),
                    Err(Error::Gone) => {}
                    Err(error) => return Err(error),
                },
                Left::Channel(_) => return ended,
                Left::Nobody => return ended.and(Err(Error::Stale)),
            }
        }
        let (offset, size) = self.part(channel);
        end.memory.store(OFFSET, offset as u64, Ordering::Relaxed);
        end.memory.store(SIZE, size as u64, Ordering::Release);
        self.wait(end, Left::Channel(channel), || Self::order(end, CALL))
    }

    /// Whether another channel's call has completed this channel's last one; reported once.
    fn was_answered(&self, channel: usize) -> bool {
        self.state.masked(|state, _| {
            let answered = state.answered.get();
            state.answered.set(answered & !(1 << channel));
            answered >> channel & 1 != 0
        })
    }

    fn note_answered(&self, channel: usize) {
        self.state
            .masked(|state, _| state.answered.update(|set| set | 1 << channel));
    }

    /// Makes a hypercall.
    fn order(end: &VlibEnd, function: u32) -> Result<(), Error> {
        let [status, ..] = hypercall4(function, [end.number.into(), 0, 0, 0]);
        match status {
            0 => Ok(()),
            _ => Err(Error::NotListening),
        }
    }

    /// Runs the server on the current thread's time until its call is complete or the deadline has
    /// passed, when `owner` becomes the owner of the unfinished call.
    fn wait(
        &'static self,
        end: &VlibEnd,
        owner: Left,
        begin: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let begun = Cell::new(0);
        let begin = || {
            begin()?;
            begun.set(end.status.load(BEGUN, Ordering::Acquire));
            Ok(())
        };
        let ended = || {
            let state = end.status.load(STATE, Ordering::Acquire);
            let done = end.status.load(DONE, Ordering::Acquire) == begun.get();
            match (done, state) {
                (true, _) => Some(Ok(())),
                (false, ABSENT) => Some(Err(Error::Gone)),
                _ => None,
            }
        };
        let result = run_remotely(self, begin, || {
            if self.has_time() {
                return ended();
            }
            let _ = Self::order(end, STOP);
            // The call may be complete before the deadline is checked.
            Some(ended().unwrap_or(Err(Error::TimedOut)))
        })
        .flatten();
        let left = match result {
            Err(Error::TimedOut) => owner,
            _ => Left::Nobody,
        };
        self.state.masked(|state, _| state.left.set(left));
        result
    }

    fn has_time(&self) -> bool {
        let deadline = self.deadline.load(Ordering::Relaxed);
        deadline == FOREVER || Instant::now().nanoseconds() < deadline
    }
}

impl RemoteWork for Port {
    fn suspend(&self) {
        if let Some(end) = self.end.get() {
            let _ = Self::order(end, STOP);
        }
    }

    fn resume(&self) {
        if let Some(end) = self.end.get()
            && self.has_time()
        {
            let _ = Self::order(end, GO);
        }
    }
}
