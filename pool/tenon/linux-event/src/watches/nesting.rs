//! [`Watches`] of event polls by others: no loops, and few in a row.

use super::{BY_SOURCE, DEPTH, NONE, PollOf, VISITS, Watches};
use tenon_process::Errno;

impl Watches {
    /// Fails if `poll` cannot watch `target`: with that, there would be a loop, or too many in a row.
    pub(super) fn check_nesting(
        &self,
        poll: u32,
        target: u32,
        poll_of: PollOf,
    ) -> Result<(), Errno> {
        let mut visits = VISITS;
        let own = self.source(poll).ok_or(Errno::EBADF)?;
        let below = self.height(target, poll, &mut visits, 1, poll_of);
        let above = self.above(own, &mut visits, 1);
        match (below, above) {
            (Some(below), Some(above)) if below + above < DEPTH => Ok(()),
            _ => Err(Errno::ELOOP),
        }
    }

    /// Event polls in a row below one; `None` if there are too many, or `target` is one of them.
    fn height(
        &self,
        poll: u32,
        target: u32,
        visits: &mut u32,
        depth: u32,
        poll_of: PollOf,
    ) -> Option<u32> {
        if poll == target || depth > DEPTH {
            return None;
        }
        let mut height = 1;
        let poll = self.polls.get(poll)?;
        let mut seen = 0;
        for number in poll.by_number.numbers(0) {
            let mut at = *poll.by_number.get(number)?;
            while let Some(watch) = self.watches.get(at) {
                *visits = visits.checked_sub(1)?;
                seen += 1;
                if let Some(below) = poll_of(&watch.object) {
                    let below = self.height(below, target, visits, depth + 1, poll_of)? + 1;
                    height = height.max(below);
                }
                at = watch.same;
            }
            if seen >= poll.count {
                break;
            }
        }
        Some(height)
    }

    /// Event polls in a row that watch a source; `None` if there are too many.
    fn above(&self, source: u32, visits: &mut u32, depth: u32) -> Option<u32> {
        if depth > DEPTH {
            return None;
        }
        let mut height = 0;
        let mut at = self.by_source.get(source).copied().unwrap_or(NONE);
        while let Some(watch) = self.watches.get(at) {
            *visits = visits.checked_sub(1)?;
            let source = self.polls.get(watch.poll)?.source;
            height = height.max(self.above(source, visits, depth + 1)? + 1);
            at = watch.links[BY_SOURCE].next;
        }
        Some(height)
    }
}
