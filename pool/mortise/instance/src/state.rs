//! State machine of a VM's life cycle.

/// Life cycle state of a VM. The numbers are those of its status page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// The slot is empty.
    #[default]
    Empty = 0,
    /// Under construction.
    Creating = 1,
    /// Running.
    Running = 2,
    /// Stopped by a fault.
    Stopped = 3,
    /// It turned itself off.
    Off = 4,
    /// Constructed; its memory can be filled.
    Created = 6,
    /// Paused.
    Paused = 7,
    /// Being destroyed.
    Destroying = 8,
}

/// Life cycle event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A slot was allocated.
    Create,
    /// Its construction is complete.
    Made,
    /// Its construction failed or was abandoned.
    Abandon,
    /// Its memory is filled.
    Load,
    /// START.
    Start,
    /// PAUSE.
    Pause,
    /// RESUME.
    Resume,
    /// RESTART from a payload that Mortise has.
    Restart,
    /// RESTART of a VM that must be filled again.
    Reload,
    /// DESTROY.
    Destroy,
    /// Its destruction is complete.
    Destroyed,
    /// It turned itself off.
    TurnedOff,
    /// It faulted and is not restarted.
    Faulted,
}

impl State {
    /// All states.
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

    /// The state after an event; `None` if this state does not allow the event.
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
            // The caller that began to destroy may be gone: another one may continue.
            (
                E::Destroy,
                Self::Created
                | Self::Running
                | Self::Paused
                | Self::Off
                | Self::Stopped
                | Self::Destroying,
            ) => Self::Destroying,
            // A vCPU may have been at this when the VM was paused.
            (E::TurnedOff, Self::Running | Self::Paused) => Self::Off,
            (E::Faulted, Self::Running | Self::Paused) => Self::Stopped,
            _ => return None,
        })
    }

    /// Whether its memory is its own: the VM is not under construction or destruction.
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

    /// Model: the properties of a VM apart from the name of its state.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Facts {
        /// It has memory.
        memory: bool,
        /// That memory is complete: neither being assigned nor removed.
        whole: bool,
        /// It has started and not ended.
        alive: bool,
        /// It is paused.
        held: bool,
        /// End of its run: by a fault or not.
        fault: Option<bool>,
    }

    impl Facts {
        /// Applies an event if these properties allow it; written from the text of the contract.
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
