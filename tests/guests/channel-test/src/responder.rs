//! VM that carries out requests.

use crate::{Message, message, number, wish};
use core::sync::atomic::{AtomicU64, Ordering};
use hw_arch::firmware::{hypercall0, hypercall1};
use tenon::environment;
use tenon::irq::{self, Priority, Trigger};
use tenon::time::{self, Duration};
use tenon_channel::{Area, Error, Receiver, Sender};

/// Hypercall that rings the other end of a channel.
const RING: u32 = 0xc600_0200;
/// Answer to a call without the authority for it.
const DENIED: u64 = -3i64 as u64;
/// Doorbells of a storm.
pub const STORM: u64 = 2_000;

/// Carries out requests for ever.
pub fn run() -> Result<(), Error> {
    let mut there = Receiver::open("there")?;
    let mut back = Sender::open("back")?;
    let (mut counted, mut in_order) = (0, 1);
    loop {
        let mut asked: Message = message(0, 0);
        match there.read(&mut asked) {
            Ok(_) => {}
            Err(Error::PeerGone | Error::Corrupt) => continue,
            Err(error) => return Err(error),
        }
        let answer = match asked[0] {
            wish::COUNT => {
                in_order &= u64::from(number(&asked) == counted);
                counted += 1;
                continue;
            }
            wish::REPORT => counted << 1 | in_order,
            wish::PAUSE => {
                // All messages were received before the initiator continues.
                let answered = back.send(&message(wish::PAUSE, 0));
                time::sleep(Duration::from_millis(10));
                answered?;
                continue;
            }
            wish::DIE => die(),
            wish::LIE => lie(),
            wish::STORM => {
                (0..STORM).for_each(|_| ring("back"));
                STORM
            }
            wish::MASKED => masked(),
            wish::TRESPASS => {
                let numbers = (0..64).chain([u64::MAX]);
                let answers = numbers.map(|number| hypercall1(RING, number));
                answers.filter(|&answer| answer == DENIED).count() as u64
            }
            _ => u64::MAX,
        };
        match back.send(&message(asked[0], answer)) {
            Ok(()) | Err(Error::PeerGone) => {}
            Err(error) => return Err(error),
        }
    }
}

fn ring(name: &str) {
    if let Some(channel) = environment::channel(name) {
        let _ = hypercall1(RING, channel.number.into());
    }
}

/// Rings from a handler that masks an interrupt of higher priority; returns how often that one came.
fn masked() -> u64 {
    static CAME: AtomicU64 = AtomicU64::new(0);
    let waits = irq::register_at(1, Trigger::Edge, Priority::HIGHEST, |_| {
        CAME.fetch_add(1, Ordering::Relaxed);
    });
    let rings = irq::register(2, Trigger::Edge, |_| {
        irq::raise(1);
        ring("back");
    });
    if waits.and(rings).is_ok() {
        irq::raise(2);
        time::sleep(Duration::from_millis(1));
    }
    [1, 2].into_iter().for_each(irq::unregister);
    CAME.swap(0, Ordering::Relaxed)
}

/// Restarts this VM at any point (PSCI SYSTEM_RESET).
fn die() -> u64 {
    hypercall0(0x8400_0009);
    hw_arch::cpu::park()
}

/// Writes arbitrary values to shared fields, as a hostile VM may.
fn lie() -> u64 {
    let own = |name| environment::channel(name).map(|channel| (channel.consumer, channel.producer));
    if let (Some((consumer, _)), Some((_, producer))) = (own("there"), own("back")) {
        for step in 1..100u64 {
            let lie = step.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            spoil(consumer, lie);
            spoil(producer, lie.rotate_left(32));
            ring("back");
            ring("there");
        }
    }
    die()
}

/// Writes the index, the wait flag and the first length.
fn spoil(part: Area<'static>, value: u64) {
    [0x00, 0x08, 0x40]
        .into_iter()
        .for_each(|offset| part.store(offset, value, Ordering::Release));
}
