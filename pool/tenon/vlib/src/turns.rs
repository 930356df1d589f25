//! Whose turn it is: calls of a vLib are made one at a time, first come, first served.

use crate::room::CHANNELS;
use core::cell::Cell;
use tenon_thread::time::Instant;
use tenon_thread::wait::{Guarded, TimedOut, WaitQueue, WaitValue, Waking};

struct State {
    /// Somebody has the turn.
    taken: Cell<bool>,
    /// Who comes next is behind all that have come; none since nobody has waited.
    tickets: Cell<usize>,
    /// Threads that wait, each with its ticket.
    waiters: WaitQueue,
    /// The tickets of calls that nobody waits for, by channel; zero for none.
    apart: [Cell<usize>; CHANNELS],
    /// The channel of such a call that has the turn.
    granted: Cell<Option<usize>>,
    /// Who makes them.
    agent: WaitQueue,
}

impl State {
    fn ticket(&self) -> usize {
        self.tickets.update(|ticket| ticket + 1);
        self.tickets.get()
    }

    /// Has the agent make the call of a channel.
    fn grant(&self, channel: usize, waking: &Waking) {
        self.granted.set(Some(channel));
        self.agent.wake(waking);
    }
}

/// The turns of one vLib.
pub(crate) struct Turns(Guarded<State>);

/// A ticket as what a thread waits with.
fn note(ticket: usize) -> WaitValue {
    core::ptr::without_provenance(ticket)
}

impl Turns {
    pub const fn new() -> Self {
        Self(Guarded::new(State {
            taken: Cell::new(false),
            tickets: Cell::new(0),
            waiters: WaitQueue::new(),
            apart: [const { Cell::new(0) }; CHANNELS],
            granted: Cell::new(None),
            agent: WaitQueue::new(),
        }))
    }

    /// Waits for a turn.
    pub fn take(&'static self, deadline: Option<Instant>) -> Result<(), TimedOut> {
        self.0.try_or_wait(
            |state, _| (!state.taken.replace(true)).then_some(Ok(())),
            |state, waiting| {
                let ticket = note(state.ticket());
                let turn = waiting.wait_with(|state| &state.waiters, deadline, ticket);
                turn.map(drop)
            },
        )
    }

    /// Has a channel's call have a turn in time, made by the agent.
    pub fn ask(&self, channel: usize) {
        self.0.waking(|state, waking| {
            if !state.taken.replace(true) {
                return state.grant(channel, waking);
            }
            if let Some(apart) = state.apart.get(channel) {
                apart.set(state.ticket());
            }
        });
    }

    /// Waits for the turn of such a call: the agent.
    pub fn granted(&'static self) -> usize {
        loop {
            let granted = self.0.try_or_wait(
                |state, _| state.granted.take().map(Some),
                |_, waiting| {
                    let _ = waiting.wait(|state| &state.agent, None);
                    None
                },
            );
            if let Some(channel) = granted {
                return channel;
            }
        }
    }

    /// Ends a turn: who has waited longest has the next.
    pub fn give(&self) {
        self.0.waking(|state, waking| {
            // The usual case, which a call that has to be in time ends with.
            if state.tickets.get() == 0 {
                return state.taken.set(false);
            }
            let mut thread = usize::MAX;
            state.waiters.wake_each(waking, |note| {
                thread = thread.min(note.addr());
                None
            });
            let asked = state.apart.iter().map(Cell::get).enumerate();
            let asked = asked.filter(|&(_, ticket)| ticket != 0 && ticket < thread);
            if let Some((channel, _)) = asked.min_by_key(|&(_, ticket)| ticket) {
                state.apart[channel].set(0);
                state.grant(channel, waking);
            } else if thread == usize::MAX {
                state.tickets.set(0);
                state.taken.set(false);
            } else {
                state
                    .waiters
                    .wake_each(waking, |note| (note.addr() == thread).then_some(note));
            }
        });
    }
}
