//! One vLib, as its master sees it.

use crate::{Error, room::Room, turns::Turns};
use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};
use core_ring::Area;
use hw_arch::firmware::ask_hypervisor;
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

/// Words of the status page, and what the first may say.
const STATE: usize = 0x00;
const BEGUN: usize = 0x08;
const DONE: usize = 0x10;
const ABSENT: u64 = 0;
const LISTENING: u64 = 1;

/// Words in front of the channels, in which the server finds the one that it is called on.
const OFFSET: usize = 0x00;
const SIZE: usize = 0x08;
const HEAD: usize = 0x40;

/// A deadline that never comes.
const FOREVER: u64 = u64::MAX;

/// Whose an unfinished call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// Nobody's: there is none, or who made it was here before.
    Nobody,
    /// This channel's.
    Channel(usize),
}

struct State {
    room: Room,
    /// Whose call has not ended and is not waited for.
    left: Cell<Left>,
    /// Channels whose calls another one has brought to their end, one bit each.
    answered: Cell<u32>,
}

/// A vLib.
pub(crate) struct Port {
    end: Once<VlibEnd>,
    state: Guarded<State>,
    pub turns: Turns,
    /// Its expiry interrupts, which is all it is for: who waits looks at the time.
    timer: Timer,
    /// When the call that is waited for is to be given up, in ns of the counter.
    deadline: AtomicU64,
}

impl Port {
    pub const fn new() -> Self {
        Self {
            end: Once::new(),
            state: Guarded::new(State {
                room: Room::new(),
                left: Cell::new(Left::Nobody),
                answered: Cell::new(0),
            }),
            turns: Turns::new(),
            timer: Timer::new(|| {}),
            deadline: AtomicU64::new(FOREVER),
        }
    }

    /// Makes it the vLib of this name, for as long as the image runs.
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

    /// Takes so much of its memory: the number of a channel.
    pub fn take(&self, size: usize) -> Result<usize, Error> {
        let end = self.end()?.memory.len();
        let taken = self
            .state
            .masked(|state, _| state.room.take(size, HEAD, end));
        taken.ok_or(Error::NoMemory)
    }

    /// Gives a channel back, unless the server has it still.
    pub fn give_back(&self, channel: usize) -> Result<(), Error> {
        let under_way = self.is_under_way();
        self.state.masked(|state, _| {
            if state.left.get() == Left::Channel(channel) {
                if under_way {
                    return Err(Error::Busy);
                }
                state.left.set(Left::Nobody);
            }
            state.answered.update(|set| set & !(1 << channel));
            state.room.give_back(channel);
            Ok(())
        })
    }

    /// Where a channel is.
    pub fn memory(&self, channel: usize) -> Option<Area<'static>> {
        let (offset, size) = self.part(channel);
        self.end.get()?.memory.part(offset, size)
    }

    fn part(&self, channel: usize) -> (usize, usize) {
        self.state.masked(|state, _| state.room.of(channel))
    }

    fn status(&self, word: usize) -> u64 {
        let end = self.end.get();
        end.map_or(0, |end| end.status.load(word, Ordering::Acquire))
    }

    /// Whether the server has a call that has not ended.
    fn is_under_way(&self) -> bool {
        self.status(STATE) > LISTENING
    }

    /// Makes the call of a channel for who has the turn, or goes on with it; it ends, or the time is
    /// over.
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

    /// Whether a channel's last call has been brought to its end by another one; told once.
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

    /// Asks Mortise for something.
    fn order(end: &VlibEnd, function: u32) -> Result<(), Error> {
        let [status, ..] = ask_hypervisor(function, [end.number.into(), 0, 0, 0]);
        match status {
            0 => Ok(()),
            _ => Err(Error::NotListening),
        }
    }

    /// Has the server run for the current thread until the call ends, or the time is over: then the
    /// call is left as that of `owner`.
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
            // It may have ended before that.
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
