//! Power states of a VM's vCPUs.

use mortise_hypercall::PowerState;

/// vCPUs a VM may have.
pub const MAX_VCPUS: usize = 8;

/// Which vCPUs of a VM execute. A vCPU that the VM does not have is off and stays so.
///
/// Who shares it between cores guards it by a lock; each method is one step of the state machine
/// off → pending → on → off.
#[derive(Clone, Debug)]
pub struct Psci {
    states: [PowerState; MAX_VCPUS],
    vcpus: usize,
}

impl Psci {
    /// A VM of so many vCPUs, at most [`MAX_VCPUS`], of which the first is on.
    pub const fn new(vcpus: usize) -> Self {
        let mut states = [PowerState::Off; MAX_VCPUS];
        if vcpus > 0 {
            states[0] = PowerState::On;
        }
        let vcpus = if vcpus < MAX_VCPUS { vcpus } else { MAX_VCPUS };
        Self { states, vcpus }
    }

    /// Back to how the VM began: the first vCPU on, the others off.
    pub const fn reset(&mut self) {
        *self = Self::new(self.vcpus);
    }

    /// The state of a vCPU.
    pub fn state(&self, vcpu: usize) -> PowerState {
        self.states.get(vcpu).copied().unwrap_or(PowerState::Off)
    }

    /// Reserves a vCPU that is off for being started, or says what it is instead.
    pub fn request_on(&mut self, vcpu: usize) -> Result<(), PowerState> {
        match self.states.get_mut(vcpu) {
            Some(state @ PowerState::Off) if vcpu < self.vcpus => {
                *state = PowerState::OnPending;
                Ok(())
            }
            Some(state) => Err(*state),
            None => Err(PowerState::Off),
        }
    }

    /// Notes that a vCPU that was requested executes now.
    pub fn started(&mut self, vcpu: usize) {
        if let Some(state @ PowerState::OnPending) = self.states.get_mut(vcpu) {
            *state = PowerState::On;
        }
    }

    /// Notes that a vCPU has stopped, and says whether any other is on or about to be.
    pub fn stopped(&mut self, vcpu: usize) -> bool {
        if let Some(state) = self.states.get_mut(vcpu) {
            *state = PowerState::Off;
        }
        self.states.iter().any(|state| *state != PowerState::Off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_vcpu_starts_only_from_off_and_only_by_request(
            vcpus in 1..=MAX_VCPUS, steps in prop::collection::vec((0usize..4, 0usize..10), 0..60),
        ) {
            let mut power = Psci::new(vcpus);
            for (step, vcpu) in steps {
                let before = power.state(vcpu);
                match step {
                    0 => {
                        let expected = (before == PowerState::Off && vcpu < vcpus).then_some(()).ok_or(before);
                        prop_assert_eq!(power.request_on(vcpu), expected);
                    }
                    1 => {
                        power.started(vcpu);
                        let pending = before == PowerState::OnPending;
                        prop_assert_eq!(power.state(vcpu), if pending { PowerState::On } else { before });
                    }
                    2 => {
                        let others = power.stopped(vcpu);
                        let any = (0..10).any(|other| power.state(other) != PowerState::Off);
                        prop_assert_eq!((others, power.state(vcpu)), (any, PowerState::Off));
                    }
                    _ => {
                        power.reset();
                        prop_assert_eq!(power.state(0), PowerState::On);
                        prop_assert!((1..10).all(|other| power.state(other) == PowerState::Off));
                    }
                }
                prop_assert!((vcpus..10).all(|other| power.state(other) == PowerState::Off));
            }
        }
    }
}
