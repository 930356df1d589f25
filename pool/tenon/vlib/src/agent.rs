//! Agent thread of a vLib, which makes its asynchronous calls.

use crate::{Error, PORTS, channel_memory::CHANNELS, port::Port};
use core::cell::Cell;
use core::time::Duration;
use tenon_thread::server::Server;
use tenon_thread::thread::{self, Handle, PreemptionLock, Priority, Storage};
use tenon_thread::time::Instant;
use tenon_thread::wait::Guarded;

/// Completion callback, with its argument.
pub type Callback = fn(usize, Result<(), Error>);

/// Stack size of an agent, on which callbacks run.
const STACK: usize = 4096;

/// An asynchronous call.
#[derive(Clone, Copy)]
struct Request {
    deadline: Option<Instant>,
    callback: Callback,
    word: usize,
}

/// The agent's thread and its requests.
struct Agent {
    thread: Cell<Option<Handle>>,
    requests: [Cell<Option<Request>>; CHANNELS],
}

static AGENTS: [Guarded<Agent>; PORTS] = [const {
    Guarded::new(Agent {
        thread: Cell::new(None),
        requests: [const { Cell::new(None) }; CHANNELS],
    })
}; PORTS];
static STORAGE: [Storage<STACK>; PORTS] = [const { Storage::new() }; PORTS];
/// Servers of the agents, for those with a budget.
static SERVERS: [Server; PORTS] = [const { Server::background() }; PORTS];

/// Requests a channel's call, made by the agent at the current thread's priority.
pub(crate) fn request(
    (index, port): (usize, &'static Port),
    channel: usize,
    deadline: Option<Instant>,
    (callback, word): (Callback, usize),
) -> Result<(), Error> {
    let (Some(agent), Some(server)) = (AGENTS.get(index), SERVERS.get(index)) else {
        return Err(Error::Absent);
    };
    let request = Request {
        deadline,
        callback,
        word,
    };
    let taken = agent.masked(|agent, _| {
        let place = agent.requests.get(channel)?;
        (place.get().is_none()).then(|| place.set(Some(request)))
    });
    taken.ok_or(Error::Busy)?;
    let priority = thread::current().priority();
    let thread = worker((index, port), priority)?;
    if !server.is_attached_to(thread) {
        let _ = thread.set_priority(priority);
    }
    port.order.enqueue(channel);
    Ok(())
}

/// Sets or removes the budget of the agent.
pub(crate) fn reserve(
    (index, port): (usize, &'static Port),
    share: Option<(Duration, Duration)>,
) -> Result<(), Error> {
    let server = SERVERS.get(index).ok_or(Error::Absent)?;
    // No other thread may change the reservation meanwhile.
    let _alone = PreemptionLock::new();
    server.detach();
    if share.is_none() {
        return Ok(());
    }
    let thread = worker((index, port), thread::current().priority())?;
    server.set_reservation(share);
    server.attach(thread).map_err(|_| Error::Overload)
}

/// The agent of a vLib, created with this priority at its first use.
fn worker((index, port): (usize, &'static Port), priority: Priority) -> Result<Handle, Error> {
    let (Some(agent), Some(storage)) = (AGENTS.get(index), STORAGE.get(index)) else {
        return Err(Error::Absent);
    };
    if let Some(thread) = agent.masked(|agent, _| agent.thread.get()) {
        return Ok(thread);
    }
    let spawned = storage.spawn("vlib", priority, move || serve(agent, port));
    let thread = spawned.map_err(|_| Error::NoThread)?;
    agent.masked(|agent, _| agent.thread.set(Some(thread)));
    Ok(thread)
}

/// Whether a channel's call is outstanding.
pub(crate) fn is_requested(index: usize, channel: usize) -> bool {
    let agent = AGENTS.get(index);
    agent.is_some_and(|agent| agent.masked(|agent, _| agent.request(channel).is_some()))
}

impl Agent {
    fn request(&self, channel: usize) -> Option<Request> {
        self.requests.get(channel)?.get()
    }
}

/// Main function of the agent.
fn serve(agent: &'static Guarded<Agent>, port: &'static Port) {
    loop {
        let channel = port.order.next_asynchronous();
        let request = agent.masked(|agent, _| agent.request(channel));
        let result = request.map(|request| (request, port.call(channel, request.deadline)));
        port.order.release();
        agent.masked(|agent, _| agent.requests.get(channel).map(Cell::take));
        if let Some((request, result)) = result {
            (request.callback)(request.word, result);
        }
    }
}
