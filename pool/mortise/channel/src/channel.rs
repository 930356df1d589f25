//! State of one channel: starts and ends of its two ends, and pending kicks.

use crate::endpoint::{Endpoint, Kick, Reach};
use core::sync::atomic::{AtomicU8, Ordering};
use core_ring::Area;
use core_ring::message::{End, Parts, Shape, Supervisor};
use core_sync::TicketLock;

/// Result of a doorbell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// No end waits.
    Nothing,
    /// The peer waits and is to be kicked.
    Kick(Kick),
    /// There is no consumer, and the VM of this template is to be created as one.
    Create(usize),
}

/// The caller has no end of the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Denied;

/// A channel.
#[derive(Debug)]
pub(crate) struct Channel {
    supervisor: Supervisor<'static>,
    /// Serialises starts and ends of the two ends.
    changing: TicketLock<()>,
    from: Endpoint,
    to: Endpoint,
    /// The template of which a VM is created when there is a message.
    template: Option<usize>,
    /// Pending work of starts, ends and doorbells, one bit each.
    pending: AtomicU8,
}

/// Kick the producer, kick the consumer, create the template's VM.
const KICK_PRODUCER: u8 = 1;
const KICK_CONSUMER: u8 = 2;
const CREATE: u8 = 4;

const fn calls(end: End) -> u8 {
    match end {
        End::Producer => KICK_PRODUCER,
        End::Consumer => KICK_CONSUMER,
    }
}

impl Channel {
    /// A channel of this shape in these areas, which are cleared.
    pub fn new(
        parts: &Parts<'static>,
        shape: Shape,
        [from, to]: [Endpoint; 2],
        template: Option<usize>,
    ) -> Result<Self, core_ring::Error> {
        for part in [parts.producer, parts.consumer, parts.status] {
            head(part).clear();
        }
        let channel = Self {
            supervisor: Supervisor::attach(parts, shape)?,
            changing: TicketLock::new(()),
            from,
            to,
            template,
            pending: AtomicU8::new(0),
        };
        if template.is_some() {
            channel.supervisor.request_doorbell();
        }
        Ok(channel)
    }

    pub const fn endpoint(&self, end: End) -> &Endpoint {
        match end {
            End::Producer => &self.from,
            End::Consumer => &self.to,
        }
    }

    /// The end that a VM has.
    pub fn end_of(&self, vm: usize) -> Option<End> {
        [End::Producer, End::Consumer]
            .into_iter()
            .find(|&end| self.endpoint(end).is(vm))
    }

    /// Determines the result of a doorbell of `vm`.
    ///
    /// The VM read the peer's wait word before its call, and the exception orders that read before
    /// the one here (Arm ARM, B2.3.12: a context synchronization event after a branch that depends
    /// on the load).
    #[inline(always)]
    pub fn ring(&self, vm: usize) -> Result<Action, Denied> {
        let end = self.end_of(vm).ok_or(Denied)?.peer();
        let endpoint = self.endpoint(end);
        if !endpoint.answer(self.supervisor.wake(end)) {
            return Ok(Action::Nothing);
        }
        Ok(match (endpoint.call(), end) {
            (Some(call), _) => Action::Kick(call),
            (None, End::Consumer) => self.template.map_or(Action::Nothing, Action::Create),
            (None, End::Producer) => Action::Nothing,
        })
    }

    /// A doorbell of `vm` with its result [deferred](Self::take_pending).
    pub fn ring_deferred(&self, vm: usize) -> Result<(), Denied> {
        let end = self.end_of(vm).ok_or(Denied)?.peer();
        match self.ring(vm)? {
            Action::Nothing => {}
            Action::Kick(_) => self.defer(calls(end)),
            Action::Create(_) => self.defer(CREATE),
        }
        Ok(())
    }

    /// Starts an end with this VM, which is reached by `reach`. The kick of the peer is deferred.
    pub fn begin(&self, end: End, vm: usize, reach: Reach) {
        let changing = self.changing.lock();
        self.endpoint(end).take(vm, reach);
        if self.supervisor.connect(end) {
            self.defer(calls(end.peer()));
        }
        drop(changing);
    }

    /// Ends an end. The kick of the peer is deferred, or the creation of a successor.
    pub fn end(&self, end: End) {
        let changing = self.changing.lock();
        let was_there = self.supervisor.disconnect(end);
        self.endpoint(end).leave();
        let waits =
            end == End::Consumer && self.template.is_some() && self.supervisor.request_doorbell();
        if was_there {
            self.defer(calls(end.peer()));
        }
        if waits {
            self.defer(CREATE);
        }
        drop(changing);
    }

    fn defer(&self, due: u8) {
        self.pending.fetch_or(due, Ordering::AcqRel);
    }

    /// Whether work is pending.
    pub fn has_pending(&self) -> bool {
        self.pending.load(Ordering::Acquire) != 0
    }

    /// Takes one item of pending work; the core that takes it does it. An end is kicked whether it
    /// waits or not, as its peer cannot be trusted to know.
    pub fn take_pending(&self) -> Action {
        let pending = self.pending.load(Ordering::Acquire);
        let first = pending & pending.wrapping_neg();
        match first & self.pending.fetch_and(!first, Ordering::AcqRel) {
            0 => Action::Nothing,
            first => self.answer(first),
        }
    }

    /// The result of an item of pending work.
    fn answer(&self, due: u8) -> Action {
        let call = match due {
            KICK_PRODUCER => self.from.call(),
            KICK_CONSUMER => self.to.call(),
            CREATE => return self.template.map_or(Action::Nothing, Action::Create),
            _ => None,
        };
        call.map_or(Action::Nothing, Action::Kick)
    }

    /// The epochs of producer and consumer, and the number of lost messages.
    pub fn state(&self) -> [u64; 3] {
        let [from, to] = [End::Producer, End::Consumer].map(|end| self.supervisor.epoch(end));
        [from, to, self.supervisor.lost()]
    }
}

/// The part of an area before the messages.
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

    fn line(template: Option<usize>) -> Line {
        let shape = Shape::new(4, 16).unwrap();
        let parts = Parts {
            producer: area(shape.producer_bytes()),
            consumer: area(CONSUMER_BYTES),
            status: area(STATUS_BYTES),
        };
        let to = template.map_or(Owner::Vm(LINUX as u8), |it| Owner::Template(it as u8));
        let parties = [
            Endpoint::new(Owner::Vm(MOTOR as u8), 8),
            Endpoint::new(to, 44),
        ];
        Line {
            channel: Channel::new(&parts, shape, parties, template).unwrap(),
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
    const KICK_LINUX: Action = Action::Kick(Kick::Virtual(LINUX, 44));
    const KICK_MOTOR: Action = Action::Kick(Kick::Physical(0x800_0001));

    /// Result of a start.
    fn begin(channel: &Channel, end: End, vm: usize, reach: Reach) -> Action {
        channel.begin(end, vm, reach);
        channel.take_pending()
    }

    /// Results of an end.
    fn end(channel: &Channel, end: End) -> [Action; 2] {
        channel.end(end);
        [channel.take_pending(), channel.take_pending()]
    }

    #[test]
    fn an_end_is_kicked_once_per_wait_however_often_the_peer_rings() {
        let line = line(None);
        let channel = &line.channel;
        assert_eq!(begin(channel, End::Producer, MOTOR, BELL), Action::Nothing);
        assert_eq!(begin(channel, End::Consumer, LINUX, LISTS), KICK_MOTOR);
        let (mut producer, mut consumer) = (line.producer(), line.consumer());
        assert_eq!(channel.ring(MOTOR), Ok(Action::Nothing), "no end waits");
        for round in 0..3u8 {
            assert!(consumer.request_doorbell());
            assert_eq!(producer.send(&[round]), Ok(Doorbell::Ring));
            assert_eq!(channel.ring(MOTOR), Ok(KICK_LINUX));
            for _ in 0..10 {
                assert_eq!(channel.ring(MOTOR), Ok(Action::Nothing));
            }
            assert_eq!(channel.take_pending(), Action::Nothing);
            assert!(consumer.receive_into(&mut [0]).is_ok());
        }
        assert_eq!(channel.ring(LINUX), Ok(Action::Nothing));
    }

    #[test]
    fn the_action_of_a_doorbell_may_be_deferred_and_happens_once() {
        let line = line(None);
        let channel = &line.channel;
        let _ = begin(channel, End::Producer, MOTOR, BELL);
        let _ = begin(channel, End::Consumer, LINUX, LISTS);
        let (mut producer, mut consumer) = (line.producer(), line.consumer());
        assert!(consumer.request_doorbell());
        assert_eq!(producer.send(&[1]), Ok(Doorbell::Ring));
        assert_eq!(channel.ring_deferred(OTHER), Err(Denied));
        assert_eq!(channel.ring_deferred(MOTOR), Ok(()));
        assert_eq!(
            channel.ring_deferred(MOTOR),
            Ok(()),
            "called again, as something was pending"
        );
        assert_eq!(channel.take_pending(), KICK_LINUX);
        assert_eq!(channel.take_pending(), Action::Nothing);
    }

    #[test]
    fn a_vm_without_an_end_is_denied_even_if_it_had_one() {
        let line = line(None);
        assert_eq!(line.channel.ring(MOTOR), Err(Denied));
        let _ = begin(&line.channel, End::Producer, MOTOR, BELL);
        assert_eq!(line.channel.ring(OTHER), Err(Denied));
        assert_eq!(line.channel.ring(usize::MAX), Err(Denied));
        assert_eq!(line.channel.ring(MOTOR), Ok(Action::Nothing));
        let _ = end(&line.channel, End::Producer);
        assert_eq!(line.channel.ring(MOTOR), Err(Denied));
    }

    #[test]
    fn a_start_or_end_kicks_the_peer_and_counts_losses() {
        let line = line(None);
        let channel = &line.channel;
        let _ = begin(channel, End::Producer, MOTOR, BELL);
        let _ = begin(channel, End::Consumer, LINUX, LISTS);
        let mut producer = line.producer();
        while producer.send(b"unread").is_ok() {}
        assert_eq!(end(channel, End::Consumer), [KICK_MOTOR, Action::Nothing]);
        assert_eq!(
            end(channel, End::Consumer),
            [Action::Nothing; 2],
            "only once"
        );
        assert_eq!(channel.state(), [1, 2, 4]);
        assert_eq!(end(channel, End::Producer), [Action::Nothing; 2]);
        assert_eq!(begin(channel, End::Consumer, LINUX, LISTS), Action::Nothing);
        assert_eq!(begin(channel, End::Producer, MOTOR, BELL), KICK_LINUX);
        assert_eq!(channel.state(), [3, 3, 4]);
    }

    #[test]
    fn a_message_without_a_consumer_creates_the_template_s_vm() {
        let line = line(Some(TEMPLATE));
        let channel = &line.channel;
        let _ = begin(channel, End::Producer, MOTOR, BELL);
        let mut producer = line.producer();
        for _ in 0..2 {
            assert_eq!(producer.send(b"job"), Ok(Doorbell::Ring));
            assert_eq!(channel.ring(MOTOR), Ok(Action::Create(TEMPLATE)));
            assert_eq!(producer.send(b"job"), Ok(Doorbell::Quiet));
            assert_eq!(channel.ring(MOTOR), Ok(Action::Nothing));
            assert_eq!(begin(channel, End::Consumer, OTHER, LISTS), KICK_MOTOR);
            let mut consumer = line.consumer();
            while consumer.receive_into(&mut [0]).is_ok() {}
            assert_eq!(end(channel, End::Consumer), [KICK_MOTOR, Action::Nothing]);
            assert!(
                producer.send(b"job").is_err(),
                "told that the other is gone"
            );
        }
        assert_eq!(channel.state()[2], 0);
    }

    #[test]
    fn an_end_is_kicked_where_it_was_reached_last() {
        for (reach, call) in [
            (Reach::Core(3), Kick::Notice(LINUX, 3, 44)),
            (LISTS, Kick::Virtual(LINUX, 44)),
            (Reach::Core(2), Kick::Notice(LINUX, 2, 44)),
        ] {
            let line = line(None);
            let channel = &line.channel;
            let _ = begin(channel, End::Consumer, LINUX, Reach::Core(1));
            let _ = end(channel, End::Consumer);
            let _ = begin(channel, End::Producer, MOTOR, BELL);
            let _ = begin(channel, End::Consumer, LINUX, reach);
            let (mut producer, mut consumer) = (line.producer(), line.consumer());
            assert!(consumer.request_doorbell());
            assert_eq!(producer.send(b"next"), Ok(Doorbell::Ring));
            assert_eq!(channel.ring(MOTOR), Ok(Action::Kick(call)));
        }
    }

    #[test]
    fn the_areas_are_cleared_at_first() {
        let line = line(None);
        assert_eq!(line.channel.state(), [0; 3]);
        assert!(line.consumer().request_doorbell());
        assert!(line.producer().send(b"first").is_ok());
    }
}
