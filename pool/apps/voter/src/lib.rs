//! Votes with other virtual machines on what each has computed.
//!
//! All of them are given a number and take it on by a step in each round. Each sends the others what
//! came of it, and goes on with what more than half of all have sent: as one of the others said it, so
//! that no answer comes about without what came over a channel. Where there is no such majority they
//! say so, and ask for a number again.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use support_challenge::{answer, asked, step};
use tenon::log;
use tenon::time::{Duration, Instant};
use tenon_channel::{Error, Receiver, Sender};

/// Rounds of which the answer is made.
const ROUNDS: usize = 10;

/// How long the vote of another one may take after the first round, which begins when it has a number.
const PATIENCE: Duration = Duration::from_secs(5);

/// The others, at most.
const OTHERS: usize = 3;

/// The channels of all, each from one voter to another.
const CHANNELS: [&str; 12] = [
    "vote-1", "vote-2", "vote-3", "vote-4", "vote-5", "vote-6", "vote-7", "vote-8", "vote-9",
    "vote-10", "vote-11", "vote-12",
];

type Ends<End> = [Option<End>; OTHERS];

/// This one's ends of the channels.
struct Booth {
    to: Ends<Sender>,
    from: Ends<Receiver>,
}

impl Booth {
    fn open() -> Result<Self, Error> {
        let mut booth = Self {
            to: [const { None }; OTHERS],
            from: [const { None }; OTHERS],
        };
        for name in CHANNELS {
            match Sender::open(name) {
                Ok(end) => put(&mut booth.to, end),
                Err(Error::OtherEnd) => put(&mut booth.from, Receiver::open(name)?),
                Err(Error::Absent) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(booth)
    }

    /// What most have computed in a round, as another one said it; nothing if there is no majority.
    fn vote(&mut self, mine: u32, deadline: Option<Instant>) -> Result<Option<u32>, Error> {
        for end in self.to.iter_mut().flatten() {
            end.send(&mine.to_le_bytes())?;
        }
        let mut votes = [None; OTHERS];
        for (end, vote) in self.from.iter_mut().flatten().zip(&mut votes) {
            let mut bytes = [0; size_of::<u32>()];
            match deadline {
                Some(deadline) => end.read_until(&mut bytes, deadline)?,
                None => end.read(&mut bytes)?,
            };
            *vote = Some(u32::from_le_bytes(bytes));
        }
        Ok(majority(mine, &votes))
    }
}

fn put<End>(ends: &mut Ends<End>, end: End) {
    if let Some(place) = ends.iter_mut().find(|place| place.is_none()) {
        *place = Some(end);
    }
}

/// What more than half of all say, if another one is among them.
fn majority(mine: u32, others: &[Option<u32>]) -> Option<u32> {
    let all = others.iter().flatten().count() + 1;
    others.iter().flatten().copied().find(|said| {
        let alike = others.iter().flatten().filter(|other| *other == said);
        2 * (alike.count() + usize::from(mine == *said)) > all
    })
}

/// The main thread: asks, votes, and says what came of it.
pub fn main() {
    let mut booth = match Booth::open() {
        Ok(booth) => booth,
        Err(error) => return log::error!("no vote: {error}"),
    };
    while let Some(number) = asked() {
        match agreed(&mut booth, number) {
            Ok(Some(number)) => answer(number),
            Ok(None) => log::info!("no agreement"),
            Err(error) => return log::error!("no vote: {error}"),
        }
    }
}

/// What becomes of a number in all rounds.
fn agreed(booth: &mut Booth, mut number: u32) -> Result<Option<u32>, Error> {
    for round in 0..ROUNDS {
        let deadline = (round > 0).then(|| Instant::now() + PATIENCE);
        match booth.vote(step(number), deadline)? {
            Some(said) => number = said,
            None => return Ok(None),
        }
    }
    Ok(Some(number))
}

#[cfg(test)]
mod tests {
    use super::majority;

    #[test]
    fn two_have_to_agree() {
        assert_eq!(majority(7, &[Some(7), None, None]), Some(7));
        assert_eq!(majority(7, &[Some(8), None, None]), None);
    }

    #[test]
    fn of_three_one_is_outvoted() {
        assert_eq!(majority(7, &[Some(8), Some(8), None]), Some(8));
        assert_eq!(majority(7, &[Some(8), Some(7), None]), Some(7));
        assert_eq!(majority(7, &[Some(8), Some(9), None]), None);
    }

    #[test]
    fn half_is_no_majority_and_alone_there_is_none() {
        assert_eq!(majority(7, &[Some(7), Some(8), Some(8)]), None);
        assert_eq!(majority(7, &[None, None, None]), None);
    }
}
