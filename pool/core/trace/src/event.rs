//! What happened.

/// A kind of event; its number is part of the format. What it is about, the *subject*, is an
/// address that stands for a thread, a timer or an object, or a number where that is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// The subject runs from here on.
    Run = 1,
    /// The subject may run: it was waiting.
    Ready = 2,
    /// Who runs waits for a point in time.
    Sleep = 3,
    /// Who runs waits until somebody wakes it.
    Park = 4,
    /// Who runs waits for its turn at the subject.
    Wait = 5,
    /// Who runs ends.
    End = 6,
    /// An interrupt is served from here on; the subject is its number.
    Enter = 7,
    /// The interrupt is served; the subject is its number.
    Leave = 8,
    /// The subject, a timer, is started.
    Start = 9,
    /// The subject, a timer, expires.
    Expire = 10,
    /// The subject, a lock, is taken by who runs.
    Acquire = 11,
    /// The subject, a lock, is given back by who runs.
    Release = 12,
    /// The program passes the subject, a mark of its own.
    Mark = 13,
    /// What the program marks by the subject begins.
    Begin = 14,
    /// What the program marks by the subject is over.
    Finish = 15,
    /// The subject is a number: the value that belongs to the mark recorded just before.
    Value = 16,
    /// The guest of a virtual CPU comes to its hypervisor; the subject is the cause: the vector's
    /// number × 256, and of a synchronous exception the class in `ESR_EL2`.
    Exit = 17,
    /// A guest goes on; the subject is its virtual CPU.
    Return = 18,
    /// A virtual interrupt is put before a virtual CPU; the subject is that × 2^24 and the INTID.
    Inject = 19,
    /// A guest calls its hypervisor; the subject is the function's identifier.
    Call = 20,
    /// A virtual machine is in another state; the subject is its place × 256 and the state.
    State = 21,
    /// The doorbell of a channel rings; the subject is the channel's number.
    Ring = 22,
}

impl Event {
    const ALL: [Self; 22] = [
        Self::Run,
        Self::Ready,
        Self::Sleep,
        Self::Park,
        Self::Wait,
        Self::End,
        Self::Enter,
        Self::Leave,
        Self::Start,
        Self::Expire,
        Self::Acquire,
        Self::Release,
        Self::Mark,
        Self::Begin,
        Self::Finish,
        Self::Value,
        Self::Exit,
        Self::Return,
        Self::Inject,
        Self::Call,
        Self::State,
        Self::Ring,
    ];

    /// The event of a number, if it is one of this version.
    pub fn from_number(number: u8) -> Option<Self> {
        let index = usize::from(number).checked_sub(1)?;
        Self::ALL.get(index).copied()
    }
}

/// Bits of a word that hold how often the ring went round.
const ROUND: u64 = 0xff;
/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// When, in ticks of the system counter; its low 56 bits.
    pub time: u64,
    /// What; nothing if a later version wrote it.
    pub event: Option<Event>,
    /// What it is about; its low 48 bits, which are all of an address in the lower half.
    pub subject: u64,
}

impl Record {
    /// The two words of an event that is written in a round of the ring.
    #[inline(always)]
    pub(crate) const fn words(time: u64, event: Event, subject: u64, round: u64) -> [u64; 2] {
        let round = round & ROUND;
        [
            time << 8 | round,
            subject << 16 | (event as u64) << 8 | round,
        ]
    }

    /// The event in two words, if both are of the round.
    pub(crate) fn of([time, rest]: [u64; 2], round: u64) -> Option<Self> {
        let whole = time & ROUND == round & ROUND && rest & ROUND == round & ROUND;
        whole.then(|| Self {
            time: time >> 8,
            event: Event::from_number((rest >> 8) as u8),
            subject: rest >> 16,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_record_are_the_documented_ones() {
        let words = Record::words(0x12_3456_789a, Event::Leave, 0xab_4008_1234, 0x1fe);
        assert_eq!(words, [0x1234_5678_9afe, 0x00ab_4008_1234_08fe]);
        let record = Record::of(words, 0xfe).unwrap();
        assert_eq!(record.event, Some(Event::Leave));
        assert_eq!(
            (record.time, record.subject),
            (0x12_3456_789a, 0xab_4008_1234)
        );
    }

    #[test]
    fn half_a_record_is_none() {
        let (old, new) = (
            Record::words(1, Event::Run, 1, 3),
            Record::words(2, Event::Run, 2, 4),
        );
        assert_eq!(Record::of([new[0], old[1]], 3), None);
        assert_eq!(Record::of([old[0], new[1]], 3), None);
        assert_eq!(Record::of(new, 3), None);
        assert!(Record::of(old, 3).is_some());
    }

    #[test]
    fn every_event_has_its_number() {
        for (index, event) in Event::ALL.into_iter().enumerate() {
            assert_eq!(event as usize, index + 1);
            assert_eq!(Event::from_number(event as u8), Some(event));
        }
        assert_eq!(Event::from_number(0), None);
        assert_eq!(Event::from_number(23), None);
    }
}
