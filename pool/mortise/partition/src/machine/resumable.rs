//! Long work in parts.
//!
//! EL2 masks interrupts, and who shares a core is not to wait for what is done for another one. So
//! what takes long is a function of how far it is: it does a part, of about a hundred instructions,
//! and says what follows. Who calls it keeps that where the work is about, looks at what is pending
//! between two parts, and comes back when nothing more urgent wants the core.

/// How far work is: stage by stage, each of as many parts as it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub(crate) stage: usize,
    pub(crate) number: usize,
}

impl Step {
    /// The first.
    pub const FIRST: Self = Self {
        stage: 0,
        number: 0,
    };

    /// What follows: more of the same stage, or the next one.
    #[must_use]
    pub(crate) const fn next(self, more: bool) -> Self {
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

    /// What follows: this number of the same stage, or the next one.
    #[must_use]
    pub(crate) const fn resume_at(self, number: Option<usize>) -> Self {
        match number {
            Some(number) => Self { number, ..self },
            None => self.next(false),
        }
    }
}

/// Does all parts of work, where nobody waits for the core.
pub(crate) fn run_to_completion(mut work: impl FnMut(Step) -> Option<Step>) {
    let mut next = Some(Step::FIRST);
    while let Some(part) = next {
        next = work(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_every_stage_has_its_turn() {
        let mut done = Vec::new();
        run_to_completion(|part| {
            done.push((part.stage, part.number));
            let next = part.next(part.number < [0, 2, 1][part.stage]);
            (next.stage < 3).then_some(next)
        });
        assert_eq!(done, [(0, 0), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]);
    }
}
