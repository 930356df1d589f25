//! Controller that calls an image classifier in Linux within a time budget.
//!
//! Every 10 ms an image of 8 by 8 pixels is to be classified within 200 us by a program in Linux. Linux
//! runs only during this time. A call that times out continues in the next period, and the controller
//! has no result in the current one.

#![no_std]
#![forbid(unsafe_code)]

use core::sync::atomic::Ordering;
use tenon::time::{self, Duration, Instant};
use tenon_vlib::{Channel, Error};

const PERIOD: Duration = Duration::from_millis(10);
const BUDGET: Duration = Duration::from_micros(200);
const IMAGES: u64 = 200;

/// Size of an image, and of the channel, in bytes: the class follows the image.
const IMAGE: usize = 64;
const SIZE: usize = IMAGE + 8;

/// Value in place of a class: there are no more images.
const ENOUGH: u64 = u64::MAX;

/// The shapes, one row per byte: a horizontal bar, a vertical bar, a cross and a frame.
const SHAPES: [u64; 4] = [
    0x0000_00ff_ff00_0000,
    0x1818_1818_1818_1818,
    0x1818_18ff_ff18_1818,
    0xff81_8181_8181_81ff,
];

/// An image of the simulated camera: a shape with some inverted pixels.
fn look(number: u64) -> (u64, [u8; IMAGE]) {
    let shape = number % SHAPES.len() as u64;
    let noise = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // Inverts three of the 64 pixels.
    let wrong = (0..3).fold(0, |wrong, at| wrong | 1 << (noise >> (16 * at) & 63));
    let bits = SHAPES[shape as usize] ^ wrong;
    (
        shape,
        core::array::from_fn(|at| 200 * (bits >> at & 1) as u8),
    )
}

/// Main thread.
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
        // A call that timed out continues in Linux, so its image must not change.
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
    // No more images: the program in Linux ends, and Linux runs on its cores again.
    classifier.memory().store(IMAGE, ENOUGH, Ordering::Relaxed);
    let _ = classifier.call();
    tenon::log::info!(
        "image-client: {IMAGES} images, {right} classified right, {late} times late, the longest call {} us",
        longest.as_micros()
    );
    Ok(())
}
