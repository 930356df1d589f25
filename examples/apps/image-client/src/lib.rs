//! A controller that has Linux look at images, within its budget.
//!
//! Every 10 ms there is an image of 8 by 8 points, and what is on it is to be known 200 us later. The
//! classifier is a program in Linux, which has these 200 us and nothing else: what it does not finish
//! it goes on with in the next period, and the controller does without an answer in this one.

#![no_std]
#![forbid(unsafe_code)]

use core::sync::atomic::Ordering;
use tenon::time::{self, Duration, Instant};
use tenon_vlib::{Channel, Error};

const PERIOD: Duration = Duration::from_millis(10);
const BUDGET: Duration = Duration::from_micros(200);
const IMAGES: u64 = 200;

/// Bytes of an image, and of a channel: the class follows the image.
const IMAGE: usize = 64;
const SIZE: usize = IMAGE + 8;

/// In place of a class: no more images.
const ENOUGH: u64 = u64::MAX;

/// What there is to see: a bar that lies, one that stands, a cross and a frame, a row in each byte.
const SHAPES: [u64; 4] = [
    0x0000_00ff_ff00_0000,
    0x1818_1818_1818_1818,
    0x1818_18ff_ff18_1818,
    0xff81_8181_8181_81ff,
];

/// What the camera sees: a shape, of which some points are wrong.
fn look(number: u64) -> (u64, [u8; IMAGE]) {
    let shape = number % SHAPES.len() as u64;
    let noise = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // Three points of the 64.
    let wrong = (0..3).fold(0, |wrong, at| wrong | 1 << (noise >> (16 * at) & 63));
    let bits = SHAPES[shape as usize] ^ wrong;
    (
        shape,
        core::array::from_fn(|at| 200 * (bits >> at & 1) as u8),
    )
}

/// The main thread.
pub fn main() {
    if let Err(error) = watch() {
        tenon::log::error!("image-client: {error}");
    }
}

fn watch() -> Result<(), Error> {
    let mut classifier = Channel::open("classifier", SIZE)?;
    let (mut right, mut late, mut longest) = (0, 0, Duration::ZERO);
    let mut release = Instant::now();
    let (mut number, mut pending) = (0, false);
    while number < IMAGES {
        release = release + PERIOD;
        time::sleep_until(release);
        let (shape, image) = look(number);
        // A call that was too late goes on, and what it is about stays.
        if !pending {
            for (row, points) in image.as_chunks().0.iter().enumerate() {
                let points = u64::from_le_bytes(*points);
                classifier
                    .memory()
                    .store(8 * row, points, Ordering::Relaxed);
            }
            classifier.memory().store(IMAGE, 0, Ordering::Relaxed);
        }
        let start = Instant::now();
        match classifier.call_for(BUDGET) {
            Ok(()) => {
                let class = classifier.memory().load(IMAGE, Ordering::Relaxed);
                right += u64::from(class == shape);
                (pending, number) = (false, number + 1);
            }
            Err(Error::TimedOut) => (pending, late) = (true, late + 1),
            Err(Error::NotListening) => continue,
            Err(error) => return Err(error),
        }
        longest = longest.max(Instant::now().since(start));
    }
    // Nothing more is to be looked at: the program ends, and Linux has its cores for itself.
    classifier.memory().store(IMAGE, ENOUGH, Ordering::Relaxed);
    let _ = classifier.call();
    tenon::log::info!(
        "image-client: {IMAGES} images, {right} classified right, {late} times late, the longest call {} us",
        longest.as_micros()
    );
    Ok(())
}
