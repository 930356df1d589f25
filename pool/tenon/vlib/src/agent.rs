//! Calls that nobody waits for: each vLib's are made by a thread.

use crate::{Error, PORTS, port::Port, room::CHANNELS};
use core::cell::Cell;
use tenon_thread::thread::{self, Handle, Storage};
use tenon_thread::time::Instant;
use tenon_thread::wait::Guarded;

/// Told what came of a call: with the word that was given for it.
pub type Callback = fn(usize, Result<(), Error>);

/// Bytes of stack of such a thread, on which callbacks run.
const STACK: usize = 4096;

/// What is to be called.
#[derive(Clone, Copy)]
struct Request {
    deadline: Option<Instant>,
    callback: Callback,
    word: usize,
}

/// The thread, and what it is asked for.
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

/// Has a channel's call made in its turn, by a thread as urgent as the current one.
pub(crate) fn ask(
    (index, port): (usize, &'static Port),
    channel: usize,
    deadline: Option<Instant>,
    (callback, word): (Callback, usize),
) -> Result<(), Error> {
    let (Some(agent), Some(storage)) = (AGENTS.get(index), STORAGE.get(index)) else {
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
    if let Some(thread) = agent.masked(|agent, _| agent.thread.get()) {
        let _ = thread.set_priority(priority);
    } else {
        let spawned = storage.spawn("vlib", priority, move || serve(agent, port));
        let thread = spawned.map_err(|_| Error::NoThread)?;
        agent.masked(|agent, _| agent.thread.set(Some(thread)));
    }
    port.turns.ask(channel);
    Ok(())
}

/// Whether a channel's call is yet to be made, or is being made.
pub(crate) fn is_asked(index: usize, channel: usize) -> bool {
    let agent = AGENTS.get(index);
    agent.is_some_and(|agent| agent.masked(|agent, _| agent.request(channel).is_some()))
}

impl Agent {
    fn request(&self, channel: usize) -> Option<Request> {
        self.requests.get(channel)?.get()
    }
}

/// The thread.
fn serve(agent: &'static Guarded<Agent>, port: &'static Port) {
    loop {
        let channel = port.turns.granted();
        let request = agent.masked(|agent, _| agent.request(channel));
        let result = request.map(|request| (request, port.call(channel, request.deadline)));
        port.turns.give();
        agent.masked(|agent, _| agent.requests.get(channel).map(Cell::take));
        if let Some((request, result)) = result {
            (request.callback)(request.word, result);
        }
    }
}
