//! FIFO order of a vLib's calls, which are made one at a time.

use crate::channel_memory::CHANNELS;
use core::cell::Cell;
use tenon_thread::time::Instant;
use tenon_thread::wait::{Guarded, TimedOut, WaitQueue, WaitValue, Waking};

struct State {
    /// A call is in progress.
    taken: Cell<bool>,
    /// The next ticket to draw; reset when no call waits.
    tickets: Cell<usize>,
    /// Waiting threads, each with its ticket.
    waiters: WaitQueue,
    /// Tickets of asynchronous calls by channel; zero for none.
    asynchronous: [Cell<usize>; CHANNELS],
    /// Channel of the asynchronous call in progress.
    granted: Cell<Option<usize>>,
    /// Wait queue of the agent, the thread that makes asynchronous calls.
    agent: WaitQueue,
}

impl State {
    fn ticket(&self) -> usize {
        self.tickets.update(|ticket| ticket + 1);
        self.tickets.get()
    }

    /// Wakes the agent to make a channel's call.
    fn grant(&self, channel: usize, waking: &Waking) {
        self.granted.set(Some(channel));
        self.agent.wake(waking);
    }
}

/// The order of one vLib's calls.
pub(crate) struct CallOrder(Guarded<State>);

/// A ticket as the value of a waiter.
fn ticket_value(ticket: usize) -> WaitValue {
    core::ptr::without_provenance(ticket)
}

impl CallOrder {
    pub const fn new() -> Self {
        Self(Guarded::new(State {
            taken: Cell::new(false),
            tickets: Cell::new(0),
            waiters: WaitQueue::new(),
            asynchronous: [const { Cell::new(0) }; CHANNELS],
            granted: Cell::new(None),
            agent: WaitQueue::new(),
        }))
    }

    /// Waits for the turn of a synchronous call.
    pub fn acquire(&'static self, deadline: Option<Instant>) -> Result<(), TimedOut> {
        self.0.try_or_wait(
            |state, _| (!state.taken.replace(true)).then_some(Ok(())),
            |state, waiting| {
                let ticket = ticket_value(state.ticket());
                let turn = waiting.wait_with(|state| &state.waiters, deadline, ticket);
                turn.map(drop)
            },
        )
    }

    /// Draws a ticket for a channel's asynchronous call, made by the agent.
    pub fn enqueue(&self, channel: usize) {
        self.0.waking(|state, waking| {
            if !state.taken.replace(true) {
                return state.grant(channel, waking);
            }
            if let Some(asynchronous) = state.asynchronous.get(channel) {
                asynchronous.set(state.ticket());
            }
        });
    }

    /// Waits for the turn of an asynchronous call, in the agent.
    pub fn next_asynchronous(&'static self) -> usize {
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

    /// Ends the turn; the next one is that of the smallest ticket.
    pub fn release(&self) {
        self.0.waking(|state, waking| {
            // Fast path, at the end of a call with a deadline.
            if state.tickets.get() == 0 {
                return state.taken.set(false);
            }
            let mut thread = usize::MAX;
            state.waiters.wake_each(waking, |value| {
                thread = thread.min(value.addr());
                None
            });
            let pending = state.asynchronous.iter().map(Cell::get).enumerate();
            let pending = pending.filter(|&(_, ticket)| ticket != 0 && ticket < thread);
            if let Some((channel, _)) = pending.min_by_key(|&(_, ticket)| ticket) {
                state.asynchronous[channel].set(0);
                state.grant(channel, waking);
            } else if thread == usize::MAX {
                state.tickets.set(0);
                state.taken.set(false);
            } else {
                state
                    .waiters
                    .wake_each(waking, |value| (value.addr() == thread).then_some(value));
            }
        });
    }
}
