//! Reference model of the states in `docs/lifecycle.md`.

use crate::guest;
use tenon_vm::{Error, State, Vm};

/// A life-cycle operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Start,
    Pause,
    Resume,
    Restart,
    Destroy,
}

impl Act {
    pub(crate) const ALL: [Self; 5] = [
        Self::Start,
        Self::Pause,
        Self::Resume,
        Self::Restart,
        Self::Destroy,
    ];

    /// Makes the call.
    pub(crate) fn call(self, vm: Vm) -> Result<(), Error> {
        match self {
            Self::Start => vm.start(),
            Self::Pause => vm.pause(),
            Self::Resume => vm.resume(),
            Self::Restart => vm.restart().map(drop),
            Self::Destroy => vm.destroy(),
        }
    }

    pub(crate) fn number(self) -> usize {
        Self::ALL.iter().position(|act| *act == self).unwrap_or(0)
    }
}

/// State of a VM between calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    Created,
    Running,
    Paused,
    Gone,
}

impl Life {
    /// The current state of a VM; `None` in a transient state.
    pub(crate) fn of(vm: Vm) -> Option<Self> {
        match vm.statistics().map(|told| told.state) {
            Ok(State::Created) => Some(Self::Created),
            // Restarted without an image, it faults.
            Ok(State::Starting | State::Running | State::Stopped) => Some(Self::Running),
            Ok(State::Paused) => Some(Self::Paused),
            Err(Error::NotFound) => Some(Self::Gone),
            _ => None,
        }
    }

    /// Whether a VM behaves as in this state.
    pub(crate) fn is_kept(self, vm: Vm) -> Result<bool, Error> {
        match self {
            Self::Running if vm.statistics()?.state == State::Stopped => Ok(true),
            Self::Running => guest::both_run(vm),
            Self::Created | Self::Paused => guest::rests(vm),
            Self::Gone => Ok(true),
        }
    }

    /// The state after a call, for a VM that restarts by itself or not.
    fn after(self, act: Act, anew: bool) -> Result<Self, Error> {
        match (act, self) {
            (_, Self::Gone) => Err(Error::NotFound),
            (Act::Destroy, _) => Ok(Self::Gone),
            (Act::Start, Self::Created) | (Act::Resume, Self::Paused) => Ok(Self::Running),
            (Act::Pause, Self::Running) => Ok(Self::Paused),
            (Act::Restart, Self::Running | Self::Paused) if anew => Ok(Self::Running),
            (Act::Restart, Self::Running | Self::Paused) => Ok(Self::Created),
            _ => Err(Error::Busy),
        }
    }
}

/// Two concurrent calls about one VM, and their answers.
pub(crate) struct Meeting {
    pub acts: [Act; 2],
    pub answers: [Result<(), Error>; 2],
    pub from: Life,
    pub anew: bool,
}

impl Meeting {
    /// Whether some order of the calls explains the state. One call may have been answered with busy, but
    /// not both, if either could succeed.
    pub(crate) fn leads_to(&self, life: Life) -> bool {
        let both_busy = self.answers == [Err(Error::Busy); 2];
        let either = self
            .acts
            .iter()
            .any(|&act| self.from.after(act, self.anew).is_ok());
        let orders = [[0, 1], [1, 0]].into_iter();
        let mut ways = orders.flat_map(|order| [(order, false), (order, true)]);
        let ordered = ways.any(|(order, undone)| self.follows(order, undone, life));
        ordered && !(both_busy && either)
    }

    /// Whether the calls in this order lead to the state. A pause that reports a conflict was either
    /// `undone` by the other call while it waited for the cores, or not carried out.
    fn follows(&self, order: [usize; 2], undone: bool, end: Life) -> bool {
        let mut life = self.from;
        for turn in order {
            let act = self.acts[turn];
            match (life.after(act, self.anew), self.answers[turn]) {
                (Ok(next), Ok(())) => life = next,
                (Ok(next), Err(Error::Busy)) if undone && act == Act::Pause => life = next,
                (_, Err(Error::Busy)) => {}
                (Err(expected), Err(answer)) if expected == answer => {}
                _ => return false,
            }
        }
        life == end
    }
}
