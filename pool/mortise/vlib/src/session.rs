//! State machine of a vLib.
//!
//! ```text
//!         listen               call                    listen, which ends the call
//! Absent ────────► Listening ────────► Serving ◄─┐ ────────────────► Listening
//!    ▲                                  │ stop   │ go
//!    └── the server's end, from each    └► Stopped ┘
//! ```
//!
//! The server is suspended while it is listening or stopped, and at no other time.

/// State of a vLib. The numbers are those of the status page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum State {
    /// No server.
    Absent = 0,
    /// The server waits for a call.
    Listening = 1,
    /// The server executes a call.
    Serving = 2,
    /// The server is stopped during a call.
    Stopped = 3,
}

/// Reason why a step is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A call is in progress, or a thread listens already.
    Busy,
    /// The server does not listen.
    Absent,
}

/// Change of the server's execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Suspend all vCPUs.
    Suspend,
    /// Resume all vCPUs.
    Resume,
}

/// Effects of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effects {
    pub change: Option<Change>,
    /// The master is notified that a call has ended.
    pub notify: bool,
}

impl Effects {
    const NOTHING: Self = Self::change(None);
    const SUSPEND: Self = Self::change(Some(Change::Suspend));
    const RESUME: Self = Self::change(Some(Change::Resume));

    const fn change(change: Option<Change>) -> Self {
        Self {
            change,
            notify: false,
        }
    }

    const fn notifying(self) -> Self {
        Self {
            notify: true,
            ..self
        }
    }
}

/// State of one vLib.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Session {
    pub state: State,
    /// Number of calls begun.
    pub begun: u64,
    /// Number of the last call answered.
    pub done: u64,
}

impl Session {
    /// State before the server begins.
    pub const NEW: Self = Self {
        state: State::Absent,
        begun: 0,
        done: 0,
    };

    /// The server listens for the next call, and has completed the one in progress, if any.
    pub fn listen(&mut self) -> Result<Effects, Refusal> {
        let effects = match self.state {
            State::Listening => return Err(Refusal::Busy),
            State::Absent => Effects::SUSPEND,
            State::Serving => Effects::SUSPEND.notifying(),
            // The server made this call while it was being stopped.
            State::Stopped => Effects::NOTHING.notifying(),
        };
        if effects.notify {
            self.done = self.begun;
        }
        self.state = State::Listening;
        Ok(effects)
    }

    /// The master calls.
    pub fn call(&mut self) -> Result<Effects, Refusal> {
        match self.state {
            State::Absent => Err(Refusal::Absent),
            State::Serving | State::Stopped => Err(Refusal::Busy),
            State::Listening => {
                self.begun = self.begun.wrapping_add(1);
                self.state = State::Serving;
                Ok(Effects::RESUME)
            }
        }
    }

    /// The master stops the call, or has ended.
    pub fn stop(&mut self) -> Effects {
        self.change(State::Serving, State::Stopped, Effects::SUSPEND)
    }

    /// The master resumes the call.
    pub fn go(&mut self) -> Effects {
        self.change(State::Stopped, State::Serving, Effects::RESUME)
    }

    fn change(&mut self, from: State, to: State, effects: Effects) -> Effects {
        if self.state != from {
            return Effects::NOTHING;
        }
        self.state = to;
        effects
    }

    /// The service ends; the server is not suspended on its account.
    pub fn server_ends(&mut self) -> Effects {
        match core::mem::replace(&mut self.state, State::Absent) {
            State::Absent => Effects::NOTHING,
            State::Listening => Effects::RESUME,
            State::Serving => Effects::NOTHING.notifying(),
            State::Stopped => Effects::RESUME.notifying(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Listen,
        Call,
        Stop,
        Go,
        ServerEnds,
    }

    /// Model of two VMs without the states: whether the server runs and is to be suspended, and the
    /// call in progress.
    #[derive(Default)]
    struct Model {
        listened: bool,
        still: bool,
        under_way: Option<u64>,
        answered: u64,
        calls: u64,
    }

    impl Model {
        /// Executes a step; returns the refusal, and whether the master is notified.
        fn step(&mut self, step: Step) -> (Option<Refusal>, bool) {
            match step {
                Step::Listen if self.still && self.under_way.is_none() => {
                    return (Some(Refusal::Busy), false);
                }
                Step::Listen => {
                    let ended = self.under_way.take();
                    self.answered = ended.unwrap_or(self.answered);
                    (self.listened, self.still) = (true, true);
                    return (None, ended.is_some());
                }
                Step::Call if !self.listened => return (Some(Refusal::Absent), false),
                Step::Call if self.under_way.is_some() => return (Some(Refusal::Busy), false),
                Step::Call => {
                    self.calls += 1;
                    self.under_way = Some(self.calls);
                    self.still = false;
                }
                Step::Stop => self.still |= self.under_way.is_some(),
                Step::Go => self.still &= self.under_way.is_none(),
                Step::ServerEnds => {
                    (self.listened, self.still) = (false, false);
                    return (None, self.under_way.take().is_some());
                }
            }
            (None, false)
        }
    }

    fn apply(session: &mut Session, step: Step) -> Result<Effects, Refusal> {
        match step {
            Step::Listen => session.listen(),
            Step::Call => session.call(),
            Step::Stop => Ok(session.stop()),
            Step::Go => Ok(session.go()),
            Step::ServerEnds => Ok(session.server_ends()),
        }
    }

    proptest! {
        #[test]
        fn the_server_is_suspended_outside_of_calls(
            steps in prop::collection::vec(
                prop::sample::select(vec![
                    Step::Listen, Step::Call, Step::Stop, Step::Go, Step::ServerEnds,
                ]),
                0..60,
            ),
        ) {
            let (mut session, mut model, mut still) = (Session::NEW, Model::default(), false);
            for step in steps {
                let effects = apply(&mut session, step);
                let (refusal, told) = model.step(step);
                prop_assert_eq!(effects.err(), refusal);
                let effects = effects.unwrap_or(Effects::NOTHING);
                prop_assert_eq!(effects.notify, told, "{:?}", step);
                match effects.change {
                    Some(Change::Suspend) => {
                        prop_assert!(!still, "told twice");
                        still = true;
                    }
                    Some(Change::Resume) => {
                        prop_assert!(still, "told twice");
                        still = false;
                    }
                    None => {}
                }
                prop_assert_eq!(still, model.still, "{:?}", step);
                prop_assert_eq!((session.begun, session.done), (model.calls, model.answered));
                let stands = matches!(session.state, State::Listening | State::Stopped);
                prop_assert_eq!(stands, still);
            }
        }
    }
}
