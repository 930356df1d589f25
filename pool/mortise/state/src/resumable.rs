//! Resumable operations: preemptible work in bounded steps.
//!
//! EL2 masks interrupts, and work for one VM must not delay the guests of a shared core. A long
//! operation is therefore a function of its progress: it does one step of about a hundred
//! instructions and returns the next. The caller stores the step with the object of the work,
//! checks for pending interrupts between two steps, and continues when no more urgent vCPU needs
//! the core.

/// Progress of an operation: a stage, and the number of the step within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Stage of the operation.
    pub stage: usize,
    /// Number of the step within the stage.
    pub number: usize,
}

impl Step {
    /// First step.
    pub const FIRST: Self = Self {
        stage: 0,
        number: 0,
    };

    /// The next step: of the same stage if `more`, else of the next one.
    #[must_use]
    pub const fn next(self, more: bool) -> Self {
        match more {
            true => Self {
                number: self.number + 1,
                ..self
            },
            false => Self {
                stage: self.stage + 1,
                number: 0,
            },
        }
    }

    /// This number of the same stage, or the next stage.
    #[must_use]
    pub const fn resume_at(self, number: Option<usize>) -> Self {
        match number {
            Some(number) => Self { number, ..self },
            None => self.next(false),
        }
    }
}

/// Does all steps of an operation, on a core where nothing is delayed by it.
pub fn run_to_completion(mut work: impl FnMut(Step) -> Option<Step>) {
    let mut next = Some(Step::FIRST);
    while let Some(part) = next {
        next = work(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_of_every_stage_is_done() {
        let mut done = Vec::new();
        run_to_completion(|part| {
            done.push((part.stage, part.number));
            let next = part.next(part.number < [0, 2, 1][part.stage]);
            (next.stage < 3).then_some(next)
        });
        assert_eq!(done, [(0, 0), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]);
    }
}
