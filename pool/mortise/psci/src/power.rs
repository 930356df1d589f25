//! The power of a VM: which vCPUs execute, which are to start where, and how its run ends.

use mortise_hypercall::{PowerState, Start};

/// vCPUs a VM may have.
pub const MAX_VCPUS: usize = 8;

/// The vCPU that leads: it fills the memory and carries out the end of a run.
pub const LEADER: usize = 0;

/// How a VM's run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// It faulted and does not start again.
    Stop,
    /// It starts again.
    Restart,
    /// It turned itself off.
    Off,
}

/// The vCPUs whose cores must be called, one bit each: what they wait for has come, or they must
/// stop. Call them when what is said here can be seen by them.
#[must_use = "a core that is not called sleeps on"]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VcpuSet(u32);

impl VcpuSet {
    /// Nobody.
    pub const NONE: Self = Self(0);

    /// Those of a word that [`bits`](Self::bits) gave.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// One bit for each vCPU to be called, for who keeps them until it calls.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Each vCPU to be called.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let rest = |bits: &u32| Some(bits & bits.wrapping_sub(1));
        core::iter::successors(Some(self.0), rest)
            .take_while(|&bits| bits != 0)
            .map(|bits| bits.trailing_zeros() as usize)
    }
}

/// What a core at rest is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextAction {
    /// Rest on.
    Wait,
    /// Start here.
    Start(Start),
    /// Every vCPU rests: end the run, as its leader.
    EndRun(RunEnd),
}

/// Whether a vCPU's core does something else for its VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loan {
    /// It does not.
    None,
    /// It does.
    Lent,
    /// It is to leave that, and then to rest.
    Recalled,
}

/// One vCPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vcpu {
    Off,
    Pending(Start),
    On,
    /// Off, as its VM sees it, and its core [lent](Power::lend).
    Lent,
    /// To start here, as soon as its core has left what it was lent for.
    Reclaimed(Start),
}

/// The power states of a VM's vCPUs and the end of its run, which is decided once. A vCPU that the
/// VM does not have is off and stays so.
///
/// Who shares it between cores guards it by a lock; each method is one step. Cores sleep between
/// steps, so each step says whom it concerns ([`VcpuSet`]): no core that has something to do is left
/// asleep, however the steps of several cores follow each other.
#[derive(Clone, Debug)]
pub struct Power {
    states: [Vcpu; MAX_VCPUS],
    vcpus: usize,
    end: Option<RunEnd>,
    /// Whether the leader has carried the end out and no other run follows.
    over: bool,
    /// Faults after which it may still start again.
    restarts: u32,
}

impl Power {
    /// A VM of so many vCPUs, at most [`MAX_VCPUS`], all off until [`renew`](Self::begin_run), which
    /// starts again after so many faults.
    #[must_use]
    pub const fn new(vcpus: usize, restarts: u32) -> Self {
        Self {
            states: [Vcpu::Off; MAX_VCPUS],
            vcpus: if vcpus < MAX_VCPUS { vcpus } else { MAX_VCPUS },
            end: None,
            over: false,
            restarts,
        }
    }

    /// Begins a run that was made ready, as [`renew`](Self::begin_run) does.
    ///
    /// # Errors
    ///
    /// How it is to end instead, if somebody decided that meanwhile.
    pub const fn begin_prepared(&mut self, start: Start) -> Result<(), RunEnd> {
        match self.end {
            Some(end) => Err(end),
            None => {
                self.begin_run(start);
                Ok(())
            }
        }
    }

    /// Begins a run: the leader is to start here, the others are off.
    pub const fn begin_run(&mut self, start: Start) {
        self.states = [Vcpu::Off; MAX_VCPUS];
        self.states[LEADER] = Vcpu::Pending(start);
        self.end = None;
        self.over = false;
    }

    /// The leader has carried out this end. Unless it makes another run ready to
    /// [begin](Self::begin_prepared), that was for good: nobody has anything to do until somebody has it begin
    /// [again](Self::force_end).
    ///
    /// # Errors
    ///
    /// What is to be carried out instead, if somebody decided that meanwhile.
    pub fn finish_run(&mut self, end: RunEnd, again: bool) -> Result<(), RunEnd> {
        match self.end {
            Some(other) if other != end => Err(other),
            _ => {
                self.end = (!again).then_some(end);
                self.over = !again;
                // What was to start is not to start in the next run.
                self.states = [Vcpu::Off; MAX_VCPUS];
                Ok(())
            }
        }
    }

    /// The state of a vCPU.
    #[must_use]
    pub fn state(&self, vcpu: usize) -> PowerState {
        match self.states.get(vcpu) {
            Some(Vcpu::On) => PowerState::On,
            Some(Vcpu::Pending(_) | Vcpu::Reclaimed(_)) => PowerState::OnPending,
            Some(Vcpu::Off | Vcpu::Lent) | None => PowerState::Off,
        }
    }

    /// Has the core of a vCPU that is off do something else for its VM, until the vCPU
    /// [stopped](Self::mark_stopped) again; nothing but a call if it does already. The leader's core has
    /// what it does.
    ///
    /// # Errors
    ///
    /// The state of the vCPU; [`PowerState::Off`] if it is off and must stay so.
    pub fn lend_core(&mut self, vcpu: usize) -> Result<VcpuSet, PowerState> {
        let state = self.state(vcpu);
        match self.states.get_mut(vcpu) {
            Some(slot @ (Vcpu::Off | Vcpu::Lent))
                if vcpu < self.vcpus && vcpu != LEADER && self.end.is_none() =>
            {
                *slot = Vcpu::Lent;
                Ok(VcpuSet(1 << vcpu))
            }
            _ => Err(state),
        }
    }

    /// Whether the core of a vCPU is lent.
    #[must_use]
    pub fn loan(&self, vcpu: usize) -> Loan {
        match self.states.get(vcpu) {
            Some(Vcpu::Lent) if self.end.is_none() => Loan::Lent,
            Some(Vcpu::Lent | Vcpu::Reclaimed(_)) => Loan::Recalled,
            _ => Loan::None,
        }
    }

    /// Has a vCPU that is off start, or says what it is instead. In a run that ends nothing starts.
    ///
    /// # Errors
    ///
    /// The state of the vCPU; [`PowerState::Off`] if it is off and must stay so.
    pub fn request_on(&mut self, vcpu: usize, start: Start) -> Result<VcpuSet, PowerState> {
        let state = self.state(vcpu);
        match self.states.get_mut(vcpu) {
            Some(slot @ (Vcpu::Off | Vcpu::Lent)) if vcpu < self.vcpus && self.end.is_none() => {
                *slot = match *slot {
                    Vcpu::Lent => Vcpu::Reclaimed(start),
                    _ => Vcpu::Pending(start),
                };
                Ok(VcpuSet(1 << vcpu))
            }
            _ => Err(state),
        }
    }

    /// A vCPU that executes ends the run: all others must rest. Nothing if its end is decided
    /// already.
    pub fn request_end(&mut self, vcpu: usize, end: RunEnd) -> Option<VcpuSet> {
        if self.end.is_some() {
            return None;
        }
        self.end = Some(end);
        Some(VcpuSet(self.executing() & !(1 << vcpu)))
    }

    /// Somebody else ends the run, or has a new one follow: all vCPUs must rest, and the leader carry
    /// it out, whatever was decided before and is not carried out yet. One that ended for good begins
    /// again so. Nothing if it is as it is to be.
    pub fn force_end(&mut self, end: RunEnd) -> Option<VcpuSet> {
        let is_so = match self.over {
            true => end != RunEnd::Restart,
            false => self.end == Some(end),
        };
        if is_so {
            return None;
        }
        self.end = Some(end);
        self.over = false;
        Some(VcpuSet(self.executing() | 1 << LEADER))
    }

    /// How the run ended, if that was for good and has been carried out.
    #[must_use]
    pub const fn final_end(&self) -> Option<RunEnd> {
        if self.over { self.end } else { None }
    }

    /// How the run is to end, if that is decided.
    #[must_use]
    pub const fn requested_end(&self) -> Option<RunEnd> {
        self.end
    }

    /// The vCPUs that are to come to rest, as the run ends, and have not.
    pub fn not_stopped(&self) -> VcpuSet {
        let ends = self.end.is_some() && !self.over;
        VcpuSet(if ends { self.executing() } else { 0 })
    }

    /// A vCPU that executes faulted: the VM starts again as often as it may, then stops. Nothing,
    /// and no fault counted, if the end of this run is decided already.
    pub fn record_fault(&mut self, vcpu: usize) -> Option<VcpuSet> {
        let again = self.restarts.checked_sub(1);
        let end = again.map_or(RunEnd::Stop, |_| RunEnd::Restart);
        let calls = self.request_end(vcpu, end)?;
        self.restarts = again.unwrap_or(0);
        Some(calls)
    }

    /// A vCPU has come to rest, with nothing left of what it did. The last one to rest of its own
    /// accord turns the VM off: no other is left to start one again, or to serve a core that is lent.
    pub fn mark_stopped(&mut self, vcpu: usize) -> VcpuSet {
        if let Some(state) = self.states.get_mut(vcpu) {
            *state = match *state {
                Vcpu::Reclaimed(start) => Vcpu::Pending(start),
                _ => Vcpu::Off,
            };
        }
        let executing = self.executing();
        let all_off = |own: &[Vcpu]| own.iter().all(|it| matches!(it, Vcpu::Off | Vcpu::Lent));
        if self.end.is_none() && all_off(self.own()) {
            self.end = Some(RunEnd::Off);
            if executing != 0 {
                return VcpuSet(executing);
            }
        }
        let due = self.end.is_some() && executing == 0 && vcpu != LEADER;
        VcpuSet(u32::from(due) << LEADER)
    }

    /// What a core at rest is to do. One that is to start executes from here on.
    pub fn next_action(&mut self, vcpu: usize) -> NextAction {
        if let Some(end) = self.end {
            let leads = vcpu == LEADER && self.executing() == 0 && !self.over;
            return if leads {
                NextAction::EndRun(end)
            } else {
                NextAction::Wait
            };
        }
        match self.states.get_mut(vcpu) {
            Some(state) => match *state {
                Vcpu::Pending(start) => {
                    *state = Vcpu::On;
                    NextAction::Start(start)
                }
                Vcpu::Off | Vcpu::On | Vcpu::Lent | Vcpu::Reclaimed(_) => NextAction::Wait,
            },
            None => NextAction::Wait,
        }
    }

    /// The states of the vCPUs that there are.
    fn own(&self) -> &[Vcpu] {
        self.states.get(..self.vcpus).unwrap_or(&self.states)
    }

    /// The vCPUs that execute, or whose cores do for them, one bit each.
    fn executing(&self) -> u32 {
        let busy = |state: &Vcpu| matches!(state, Vcpu::On | Vcpu::Lent | Vcpu::Reclaimed(_));
        self.own()
            .iter()
            .enumerate()
            .filter(|(_, state)| busy(state))
            .fold(0, |word, (vcpu, _)| word | 1 << vcpu)
    }
}

#[cfg(test)]
mod tests;
