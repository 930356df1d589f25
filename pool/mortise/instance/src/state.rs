//! The states of a VM's life.

/// Where in its life a VM is. The numbers are those of its status page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// There is none.
    #[default]
    Empty = 0,
    /// It is being put together.
    Creating = 1,
    /// It runs.
    Running = 2,
    /// It faulted.
    Stopped = 3,
    /// It turned itself off.
    Off = 4,
    /// Its memory is its own and can be filled.
    Created = 6,
    /// It is kept from running.
    Paused = 7,
    /// It is being taken apart.
    Destroying = 8,
}

/// What leads from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A slot was found for it.
    Create,
    /// It was put together.
    Made,
    /// It could not be put together, or who made it gave up.
    Abandon,
    /// Its memory is filled.
    Load,
    /// It is to run.
    Start,
    /// It is to stop running for a while.
    Pause,
    /// It is to go on.
    Resume,
    /// It is to run from its beginning, from the payload that Mortise has.
    Restart,
    /// It is to run from its beginning, for which it must be filled again.
    Reload,
    /// It is to be no more.
    Destroy,
    /// It is taken apart.
    Destroyed,
    /// It turned itself off.
    TurnedOff,
    /// It faulted and does not start again.
    Faulted,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 8] = [
        Self::Empty,
        Self::Creating,
        Self::Running,
        Self::Stopped,
        Self::Off,
        Self::Created,
        Self::Paused,
        Self::Destroying,
    ];

    /// The state that an event leads to; nothing if it does not happen in this one, which stays.
    #[must_use]
    pub const fn after(self, event: Event) -> Option<Self> {
        use Event as E;
        Some(match (event, self) {
            (E::Create, Self::Empty) => Self::Creating,
            (E::Made, Self::Creating) => Self::Created,
            (E::Abandon, Self::Creating) | (E::Destroyed, Self::Destroying) => Self::Empty,
            (E::Load, Self::Created) | (E::Reload, Self::Off | Self::Stopped) => Self::Created,
            (E::Start, Self::Created) | (E::Resume, Self::Paused) => Self::Running,
            (E::Pause, Self::Running) => Self::Paused,
            (E::Restart, Self::Running | Self::Paused | Self::Off | Self::Stopped) => Self::Running,
            (E::Reload, Self::Running | Self::Paused) => Self::Created,
            // Who began to destroy may have been destroyed since: another one goes on.
            (
                E::Destroy,
                Self::Created
                | Self::Running
                | Self::Paused
                | Self::Off
                | Self::Stopped
                | Self::Destroying,
            ) => Self::Destroying,
            // What was under way when it was paused.
            (E::TurnedOff, Self::Running | Self::Paused) => Self::Off,
            (E::Faulted, Self::Running | Self::Paused) => Self::Stopped,
            _ => return None,
        })
    }

    /// Whether its memory is its own, beside what is being put together or taken apart.
    #[must_use]
    pub const fn exists(self) -> bool {
        !matches!(self, Self::Empty | Self::Creating | Self::Destroying)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EVENTS: [Event; 13] = [
        Event::Create,
        Event::Made,
        Event::Abandon,
        Event::Load,
        Event::Start,
        Event::Pause,
        Event::Resume,
        Event::Restart,
        Event::Reload,
        Event::Destroy,
        Event::Destroyed,
        Event::TurnedOff,
        Event::Faulted,
    ];

    /// What can be said of a VM apart from the state's name: the model.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Facts {
        /// Has memory of its own.
        memory: bool,
        /// That memory is whole: neither being given nor taken.
        whole: bool,
        /// Has begun to run and has not ended.
        alive: bool,
        /// Is kept from running.
        held: bool,
        /// How its run ended.
        fault: Option<bool>,
    }

    impl Facts {
        /// The event, if these facts allow it, written from the contract's sentences.
        fn apply(&mut self, event: Event) -> bool {
            let idle = self.memory && self.whole && !self.alive && self.fault.is_none();
            let ran = self.memory && self.whole && (self.alive || self.fault.is_some());
            let allowed = match event {
                Event::Create => !self.memory,
                Event::Made | Event::Abandon => self.memory && !self.whole && !self.held,
                Event::Load | Event::Start => idle,
                Event::Pause => self.alive && !self.held,
                Event::Resume => self.alive && self.held,
                Event::Restart | Event::Reload => ran,
                Event::Destroy => self.memory && (self.whole || self.held),
                Event::Destroyed => self.memory && !self.whole && self.held,
                Event::TurnedOff | Event::Faulted => self.alive,
            };
            if allowed {
                let fresh = Self {
                    memory: true,
                    whole: true,
                    ..Self::default()
                };
                *self = match event {
                    Event::Create => Self {
                        whole: false,
                        ..fresh
                    },
                    Event::Made | Event::Load | Event::Reload => fresh,
                    Event::Abandon | Event::Destroyed => Self::default(),
                    Event::Start | Event::Resume | Event::Restart => Self {
                        alive: true,
                        ..fresh
                    },
                    Event::Pause => Self {
                        alive: true,
                        held: true,
                        ..fresh
                    },
                    Event::Destroy => Self {
                        whole: false,
                        held: true,
                        ..fresh
                    },
                    Event::TurnedOff => Self {
                        fault: Some(false),
                        ..fresh
                    },
                    Event::Faulted => Self {
                        fault: Some(true),
                        ..fresh
                    },
                };
            }
            allowed
        }
    }

    proptest! {
        #[test]
        fn states_follow_the_model(events in prop::collection::vec(prop::sample::select(&EVENTS[..]), 0..60)) {
            let (mut state, mut facts) = (State::Empty, Facts::default());
            for event in events {
                let next = state.after(event);
                prop_assert_eq!(next.is_some(), facts.apply(event), "{:?} in {:?}", event, state);
                state = next.unwrap_or(state);
                prop_assert_eq!(state == State::Empty, !facts.memory);
                prop_assert_eq!(state.exists(), facts.memory && facts.whole);
                prop_assert_eq!(state == State::Paused, facts.alive && facts.held);
                prop_assert_eq!(state == State::Running, facts.alive && !facts.held);
                prop_assert_eq!(state == State::Stopped, facts.fault == Some(true));
                prop_assert_eq!(state == State::Off, facts.fault == Some(false));
            }
        }
    }

    #[test]
    fn every_state_is_reached_and_every_one_ends_empty() {
        let mut reached = vec![State::Empty];
        let mut next = 0;
        while let Some(&state) = reached.get(next) {
            for state in EVENTS.iter().filter_map(|&event| state.after(event)) {
                if !reached.contains(&state) {
                    reached.push(state);
                }
            }
            next += 1;
        }
        assert_eq!(reached.len(), State::ALL.len());
        for state in State::ALL {
            let ends = match state {
                State::Empty => true,
                State::Creating => state.after(Event::Abandon) == Some(State::Empty),
                _ => {
                    state
                        .after(Event::Destroy)
                        .and_then(|state| state.after(Event::Destroyed))
                        == Some(State::Empty)
                }
            };
            assert!(ends, "{state:?}");
        }
    }
}
