//! One channel: its ends' starts and ends, and who is to be called.

use crate::party::{Call, Party, Reach};
use core::sync::atomic::{AtomicU8, Ordering};
use core_ring::Area;
use core_ring::message::{End, Keeper, Parts, Shape};
use core_sync::TicketLock;

/// What a doorbell leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nobody waits.
    Quiet,
    /// The other end does.
    Call(Call),
    /// There is no consumer, and this template's VM is to become it.
    Want(usize),
}

/// The caller has no end of the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Denied;

/// A channel.
#[derive(Debug)]
pub(crate) struct Channel {
    keeper: Keeper<'static>,
    /// Of two ends that come or go, one at a time.
    changing: TicketLock<()>,
    from: Party,
    to: Party,
    /// The template whose VM is made when there is a message.
    wanted: Option<usize>,
    /// What is yet to be done of what ends and doorbells led to, one bit each.
    owed: AtomicU8,
}

/// The producer is to be called, the consumer is, or the template's VM is wanted.
const CALL_PRODUCER: u8 = 1;
const CALL_CONSUMER: u8 = 2;
const WANT: u8 = 4;

const fn calls(end: End) -> u8 {
    match end {
        End::Producer => CALL_PRODUCER,
        End::Consumer => CALL_CONSUMER,
    }
}

impl Channel {
    /// The channel of this shape in these parts, from which all that was there is taken.
    pub fn new(
        parts: &Parts<'static>,
        shape: Shape,
        [from, to]: [Party; 2],
        wanted: Option<usize>,
    ) -> Result<Self, core_ring::Error> {
        for part in [parts.producer, parts.consumer, parts.status] {
            head(part).clear();
        }
        let channel = Self {
            keeper: Keeper::attach(parts, shape)?,
            changing: TicketLock::new(()),
            from,
            to,
            wanted,
            owed: AtomicU8::new(0),
        };
        if wanted.is_some() {
            channel.keeper.expect();
        }
        Ok(channel)
    }

    pub const fn party(&self, end: End) -> &Party {
        match end {
            End::Producer => &self.from,
            End::Consumer => &self.to,
        }
    }

    /// The end that a VM has.
    pub fn end_of(&self, vm: usize) -> Option<End> {
        [End::Producer, End::Consumer]
            .into_iter()
            .find(|&end| self.party(end).is(vm))
    }

    /// What follows as `vm` rings.
    ///
    /// The VM looked at the other end's wait before it called, and an exception orders that look
    /// before the one here (Arm ARM, B2.3.12: a context synchronization event behind a branch that
    /// depends on the load).
    #[inline(always)]
    pub fn ring(&self, vm: usize) -> Result<Answer, Denied> {
        let end = self.end_of(vm).ok_or(Denied)?.peer();
        let party = self.party(end);
        if !party.answer(self.keeper.wake(end)) {
            return Ok(Answer::Quiet);
        }
        Ok(match (party.call(), end) {
            (Some(call), _) => Answer::Call(call),
            (None, End::Consumer) => self.wanted.map_or(Answer::Quiet, Answer::Want),
            (None, End::Producer) => Answer::Quiet,
        })
    }

    /// The same, but that what follows is [owed](Self::take_owed).
    pub fn ring_later(&self, vm: usize) -> Result<(), Denied> {
        let end = self.end_of(vm).ok_or(Denied)?.peer();
        match self.ring(vm)? {
            Answer::Quiet => {}
            Answer::Call(_) => self.owe(calls(end)),
            Answer::Want(_) => self.owe(WANT),
        }
        Ok(())
    }

    /// An end begins as this VM, which is reached so; to call the other is owed.
    pub fn begin(&self, end: End, vm: usize, reach: Reach) {
        let changing = self.changing.lock();
        self.party(end).take(vm, reach);
        if self.keeper.begin(end) {
            self.owe(calls(end.peer()));
        }
        drop(changing);
    }

    /// An end is gone; to call the other is owed, or somebody to take its place at once.
    pub fn end(&self, end: End) {
        let changing = self.changing.lock();
        let was_there = self.keeper.end(end);
        self.party(end).leave();
        let waits = end == End::Consumer && self.wanted.is_some() && self.keeper.expect();
        if was_there {
            self.owe(calls(end.peer()));
        }
        if waits {
            self.owe(WANT);
        }
        drop(changing);
    }

    fn owe(&self, due: u8) {
        self.owed.fetch_or(due, Ordering::AcqRel);
    }

    /// Whether something is owed.
    pub fn owes(&self) -> bool {
        self.owed.load(Ordering::Acquire) != 0
    }

    /// Takes one thing that is owed: whoever takes it does it, whoever led to it. An end is called
    /// whether it waits or not: it is not for its peer to say.
    pub fn take_owed(&self) -> Answer {
        let owed = self.owed.load(Ordering::Acquire);
        let first = owed & owed.wrapping_neg();
        match first & self.owed.fetch_and(!first, Ordering::AcqRel) {
            0 => Answer::Quiet,
            first => self.answer(first),
        }
    }

    /// What a thing that is due leads to.
    fn answer(&self, due: u8) -> Answer {
        let call = match due {
            CALL_PRODUCER => self.from.call(),
            CALL_CONSUMER => self.to.call(),
            WANT => return self.wanted.map_or(Answer::Quiet, Answer::Want),
            _ => None,
        };
        call.map_or(Answer::Quiet, Answer::Call)
    }

    /// The epochs of producer and consumer, and how many messages were lost.
    pub fn state(&self) -> [u64; 3] {
        let [from, to] = [End::Producer, End::Consumer].map(|end| self.keeper.epoch(end));
        [from, to, self.keeper.lost()]
    }
}

/// What stands before the messages.
fn head(part: Area<'static>) -> Area<'static> {
    part.part(0, Shape::HEAD_BYTES).unwrap_or(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicU64;
    use core_manifest::Owner;
    use core_ring::message::{CONSUMER_BYTES, Consumer, Doorbell, Producer, STATUS_BYTES};

    const MOTOR: usize = 0;
    const LINUX: usize = 1;
    const OTHER: usize = 2;
    const TEMPLATE: usize = 3;

    fn area(bytes: usize) -> Area<'static> {
        let words: Vec<AtomicU64> = (0..bytes / 8).map(|_| AtomicU64::new(9)).collect();
        Area::new(Box::leak(words.into_boxed_slice()))
    }

    struct Line {
        channel: Channel,
        parts: Parts<'static>,
        shape: Shape,
    }

    fn line(wanted: Option<usize>) -> Line {
        let shape = Shape::new(4, 16).unwrap();
        let parts = Parts {
            producer: area(shape.producer_bytes()),
            consumer: area(CONSUMER_BYTES),
            status: area(STATUS_BYTES),
        };
        let to = wanted.map_or(Owner::Vm(LINUX as u8), |it| Owner::Template(it as u8));
        let parties = [Party::new(Owner::Vm(MOTOR as u8), 8), Party::new(to, 44)];
        Line {
            channel: Channel::new(&parts, shape, parties, wanted).unwrap(),
            parts,
            shape,
        }
    }

    impl Line {
        fn producer(&self) -> Producer<'static> {
            Producer::attach(&self.parts, self.shape).unwrap()
        }

        fn consumer(&self) -> Consumer<'static> {
            Consumer::attach(&self.parts, self.shape).unwrap()
        }
    }

    const BELL: Reach = Reach::DirectSgi(0x800_0001);
    const LISTS: Reach = Reach::Controller;
    const CALL_LINUX: Answer = Answer::Call(Call::Virtual(LINUX, 44));
    const CALL_MOTOR: Answer = Answer::Call(Call::Physical(0x800_0001));

    /// What a begin leads to.
    fn begin(channel: &Channel, end: End, vm: usize, reach: Reach) -> Answer {
        channel.begin(end, vm, reach);
        channel.take_owed()
    }

    /// What an end leads to.
    fn end(channel: &Channel, end: End) -> [Answer; 2] {
        channel.end(end);
        [channel.take_owed(), channel.take_owed()]
    }

    #[test]
    fn an_end_is_called_once_for_each_of_its_waits_however_often_the_other_rings() {
        let line = line(None);
        let channel = &line.channel;
        assert_eq!(begin(channel, End::Producer, MOTOR, BELL), Answer::Quiet);
        assert_eq!(begin(channel, End::Consumer, LINUX, LISTS), CALL_MOTOR);
        let (mut producer, mut consumer) = (line.producer(), line.consumer());
        assert_eq!(channel.ring(MOTOR), Ok(Answer::Quiet), "nobody waits");
        for round in 0..3u8 {
            assert!(consumer.ask());
            assert_eq!(producer.send(&[round]), Ok(Doorbell::Ring));
            assert_eq!(channel.ring(MOTOR), Ok(CALL_LINUX));
            for _ in 0..10 {
                assert_eq!(channel.ring(MOTOR), Ok(Answer::Quiet));
            }
            assert_eq!(channel.take_owed(), Answer::Quiet);
            assert!(consumer.receive_into(&mut [0]).is_ok());
        }
        assert_eq!(channel.ring(LINUX), Ok(Answer::Quiet));
    }

    #[test]
    fn what_a_doorbell_leads_to_may_be_done_later_and_once() {
        let line = line(None);
        let channel = &line.channel;
        let _ = begin(channel, End::Producer, MOTOR, BELL);
        let _ = begin(channel, End::Consumer, LINUX, LISTS);
        let (mut producer, mut consumer) = (line.producer(), line.consumer());
        assert!(consumer.ask());
        assert_eq!(producer.send(&[1]), Ok(Doorbell::Ring));
        assert_eq!(channel.ring_later(OTHER), Err(Denied));
        assert_eq!(channel.ring_later(MOTOR), Ok(()));
        assert_eq!(
            channel.ring_later(MOTOR),
            Ok(()),
            "called again, as something was pending"
        );
        assert_eq!(channel.take_owed(), CALL_LINUX);
        assert_eq!(channel.take_owed(), Answer::Quiet);
    }

    #[test]
    fn who_has_no_end_is_denied_and_so_is_who_had_one() {
        let line = line(None);
        assert_eq!(line.channel.ring(MOTOR), Err(Denied));
        let _ = begin(&line.channel, End::Producer, MOTOR, BELL);
        assert_eq!(line.channel.ring(OTHER), Err(Denied));
        assert_eq!(line.channel.ring(usize::MAX), Err(Denied));
        assert_eq!(line.channel.ring(MOTOR), Ok(Answer::Quiet));
        let _ = end(&line.channel, End::Producer);
        assert_eq!(line.channel.ring(MOTOR), Err(Denied));
    }

    #[test]
    fn an_end_that_comes_or_goes_has_the_other_called_and_counted_losses() {
        let line = line(None);
        let channel = &line.channel;
        let _ = begin(channel, End::Producer, MOTOR, BELL);
        let _ = begin(channel, End::Consumer, LINUX, LISTS);
        let mut producer = line.producer();
        while producer.send(b"unread").is_ok() {}
        assert_eq!(end(channel, End::Consumer), [CALL_MOTOR, Answer::Quiet]);
        assert_eq!(end(channel, End::Consumer), [Answer::Quiet; 2], "only once");
        assert_eq!(channel.state(), [1, 2, 4]);
        assert_eq!(end(channel, End::Producer), [Answer::Quiet; 2]);
        assert_eq!(begin(channel, End::Consumer, LINUX, LISTS), Answer::Quiet);
        assert_eq!(begin(channel, End::Producer, MOTOR, BELL), CALL_LINUX);
        assert_eq!(channel.state(), [3, 3, 4]);
    }

    #[test]
    fn a_message_without_a_consumer_wants_the_template() {
        let line = line(Some(TEMPLATE));
        let channel = &line.channel;
        let _ = begin(channel, End::Producer, MOTOR, BELL);
        let mut producer = line.producer();
        for _ in 0..2 {
            assert_eq!(producer.send(b"job"), Ok(Doorbell::Ring));
            assert_eq!(channel.ring(MOTOR), Ok(Answer::Want(TEMPLATE)));
            assert_eq!(producer.send(b"job"), Ok(Doorbell::Quiet));
            assert_eq!(channel.ring(MOTOR), Ok(Answer::Quiet));
            assert_eq!(begin(channel, End::Consumer, OTHER, LISTS), CALL_MOTOR);
            let mut consumer = line.consumer();
            while consumer.receive_into(&mut [0]).is_ok() {}
            assert_eq!(end(channel, End::Consumer), [CALL_MOTOR, Answer::Quiet]);
            assert!(
                producer.send(b"job").is_err(),
                "told that the other is gone"
            );
        }
        assert_eq!(channel.state()[2], 0);
    }

    #[test]
    fn an_end_is_called_where_it_was_reached_last() {
        for (reach, call) in [
            (Reach::Core(3), Call::Notice(LINUX, 3, 44)),
            (LISTS, Call::Virtual(LINUX, 44)),
            (Reach::Core(2), Call::Notice(LINUX, 2, 44)),
        ] {
            let line = line(None);
            let channel = &line.channel;
            let _ = begin(channel, End::Consumer, LINUX, Reach::Core(1));
            let _ = end(channel, End::Consumer);
            let _ = begin(channel, End::Producer, MOTOR, BELL);
            let _ = begin(channel, End::Consumer, LINUX, reach);
            let (mut producer, mut consumer) = (line.producer(), line.consumer());
            assert!(consumer.ask());
            assert_eq!(producer.send(b"next"), Ok(Doorbell::Ring));
            assert_eq!(channel.ring(MOTOR), Ok(Answer::Call(call)));
        }
    }

    #[test]
    fn the_parts_are_empty_at_first_whatever_was_there() {
        let line = line(None);
        assert_eq!(line.channel.state(), [0; 3]);
        assert!(line.consumer().ask());
        assert!(line.producer().send(b"first").is_ok());
    }
}
