//! Trace events and their encoding.

/// A kind of event; its number is part of the format. Its *subject* is the address of a thread,
/// timer or object, or a number where that is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// The subject starts to run.
    Run = 1,
    /// The subject becomes ready.
    Ready = 2,
    /// The running thread blocks until a point in time.
    Sleep = 3,
    /// The running thread blocks until it is woken.
    Park = 4,
    /// The running thread blocks on the subject.
    Wait = 5,
    /// The running thread ends.
    End = 6,
    /// The handler of an interrupt starts; the subject is the INTID.
    Enter = 7,
    /// The handler of an interrupt ends; the subject is the INTID.
    Leave = 8,
    /// The subject, a timer, is armed.
    Start = 9,
    /// The subject, a timer, expires.
    Expire = 10,
    /// The running thread locks the subject.
    Acquire = 11,
    /// The running thread unlocks the subject.
    Release = 12,
    /// The program passes the subject, one of its marks.
    Mark = 13,
    /// The section marked by the subject starts.
    Begin = 14,
    /// The section marked by the subject ends.
    Finish = 15,
    /// The value of the mark recorded just before; the subject is a number.
    Value = 16,
    /// A vCPU exits; the subject is the cause: the vector's number × 256, and for a synchronous
    /// exception the class in `ESR_EL2`.
    Exit = 17,
    /// Guest entry; the subject is the vCPU.
    Return = 18,
    /// A virtual interrupt is delivered to a vCPU; the subject is that × 2^24 plus the INTID.
    Inject = 19,
    /// A hypercall; the subject is the function identifier.
    Call = 20,
    /// A VM changes its state; the subject is its slot × 256 plus the state.
    State = 21,
    /// The doorbell of a channel rings; the subject is the channel's number.
    Ring = 22,
    /// A thread is created with these priorities, or they change: see [`of_priorities`].
    Priority = 23,
    /// The records that follow describe a thread or an object: see [`of_object`].
    Describe = 24,
    /// Its kind; the subject is a number.
    Kind = 25,
    /// The next six bytes of its name, zeros behind the end.
    Text = 26,
    /// Its name is the symbol of the subject, the address of a function.
    Symbol = 27,
}

/// The subject of [`Event::Priority`]: the address of a thread, which is a multiple of 8 below
/// 2^39, its base and its effective priority.
#[must_use]
pub const fn of_priorities(thread: u64, base: u8, effective: u8) -> u64 {
    thread >> 3 << 12 | (base as u64 & 0x3f) << 6 | effective as u64 & 0x3f
}

/// The subject of [`Event::Describe`]: the address of an object, which is a multiple of 8 below
/// 2^39, and its size, of which 32,760 bytes count at most.
#[must_use]
pub const fn of_object(address: u64, size: u64) -> u64 {
    let words = if size < 8 * 0xfff { size / 8 } else { 0xfff };
    address >> 3 << 12 | words
}

impl Event {
    const ALL: [Self; 27] = [
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
        Self::Priority,
        Self::Describe,
        Self::Kind,
        Self::Text,
        Self::Symbol,
    ];

    /// The event of a number, if this version defines it.
    pub fn from_number(number: u8) -> Option<Self> {
        let index = usize::from(number).checked_sub(1)?;
        Self::ALL.get(index).copied()
    }
}

/// Bits of a word that hold the round of the ring.
const ROUND: u64 = 0xff;
/// A trace record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Time in ticks of the system counter; its low 56 bits.
    pub time: u64,
    /// The event; `None` if a later version defines it.
    pub event: Option<Event>,
    /// The subject; its low 48 bits, which suffice for an address in the lower half.
    pub subject: u64,
}

impl Record {
    /// Encodes a record in two words, for a round of the ring.
    #[inline(always)]
    pub(crate) const fn words(time: u64, event: Event, subject: u64, round: u64) -> [u64; 2] {
        let round = round & ROUND;
        [
            time << 8 | round,
            subject << 16 | (event as u64) << 8 | round,
        ]
    }

    /// Decodes two words, if both are of the round.
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
        assert_eq!(Event::from_number(28), None);
    }

    #[test]
    fn priorities_and_sizes_fit_beside_an_address() {
        assert_eq!(
            of_priorities(0x4008_1238, 40, 63),
            0x80_1024_7000 | 40 << 6 | 63
        );
        assert_eq!(of_priorities(0x7f_ffff_fff8, 63, 0), 0xffff_ffff_ffc0);
        assert_eq!(of_object(0x4008_1238, 128), 0x80_1024_7000 | 16);
        assert_eq!(of_object(8, 1 << 20), 0x1fff);
    }
}
