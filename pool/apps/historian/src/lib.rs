//! Control loop that records its temperature in a file on a disk.
//!
//! The periodic task `control`, with the highest priority of the image, holds the temperature of a
//! [`Plate`] and appends a [`Record`] to the file [`FILE`] at each release. It never waits for the disk.
//! A thread below it syncs the file each second, and prints how many records are on the disk: these are
//! there after a power cut, and the next boot appends behind them.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod plate;

pub use plate::Plate;

use core::fmt::Write as _;
use core::sync::atomic::{AtomicU64, Ordering};
use core_log::Line;
use tenon::log;
use tenon::periodic::Task;
use tenon::thread::{Priority, Storage};
use tenon::time::{Duration, sleep};
use tenon_disk_log::{Error, Log, start};

/// Default period of the loop.
const PERIOD: Duration = Duration::from_millis(10);

/// The file with the records.
const FILE: &str = "temperature.csv";

/// Bytes of a record.
const RECORD: usize = 20;

/// Priorities of the disk thread, and of the one that reports.
const DISK: Priority = Priority::new(8);
const REPORTER: Priority = Priority::new(4);

/// Time from a report to the next.
const REPORTED: Duration = Duration::from_secs(1);

static THREAD: Storage<{ 8 * 1024 }> = Storage::new();

/// Records for which the buffer of the disk had no room.
static LOST: AtomicU64 = AtomicU64::new(0);

/// A line of the file: the number of the record, and the temperature in millidegrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Number of the record, from zero on; earlier runs are counted.
    pub number: u64,
    /// Temperature in millidegrees, from 0 to 9,999,999.
    pub temperature: i32,
}

impl Record {
    /// The line, of [`RECORD`] bytes with its end.
    fn line(self) -> Line<RECORD> {
        let (degrees, rest) = (self.temperature / 1000, self.temperature % 1000);
        let mut line = Line::new();
        // Writing to a `Line` never fails: it truncates.
        let _ = writeln!(line, "{:>10},{degrees:>4}.{rest:03}", self.number);
        line
    }
}

/// Main thread: opens the file, and becomes the task.
pub fn main() {
    let mut file = match open() {
        Ok(file) => file,
        Err(error) => {
            log::error!("historian: nothing is recorded: {error}");
            None
        }
    };
    tenon::thread::current().set_priority(Priority::HIGHEST);
    let mut plate = Plate::cold();
    Task::new("control", PERIOD).run(|_| {
        let temperature = plate.step();
        let Some((log, number)) = &mut file else {
            return;
        };
        let record = Record {
            number: *number,
            temperature,
        };
        match log.append(record.line().as_str().as_bytes()) {
            Ok(()) => *number += 1,
            Err(Error::Full) => {
                LOST.fetch_add(1, Ordering::Relaxed);
            }
            // The disk thread has printed the error.
            Err(_) => file = None,
        }
    });
}

/// Opens the file and starts the thread that reports; returns the file with the number of the next
/// record. Without records of this form in it the file is left as it is.
fn open() -> Result<Option<(Log, u64)>, Error> {
    start(DISK)?;
    let log = Log::open(FILE)?;
    let size = log.durable()?;
    if !size.is_multiple_of(RECORD as u64) {
        log::error!("historian: {FILE} has other content: rename it");
        return Ok(None);
    }
    let number = size / RECORD as u64;
    log::info!("historian: {FILE} has {number} records");
    let reporter = THREAD.spawn("reporter", REPORTER, move || {
        if let Err(error) = report(log) {
            log::error!("historian: {error}");
        }
    });
    reporter.map_err(|_| Error::Thread)?;
    Ok(Some((log, number)))
}

/// Body of the thread that reports.
fn report(log: Log) -> Result<(), Error> {
    loop {
        sleep(REPORTED);
        log.sync()?;
        let (records, lost) = (log.durable()? / RECORD as u64, LOST.load(Ordering::Relaxed));
        log::info!("historian: {records} records are on the disk, {lost} are lost");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_records_are_lines_of_one_length() {
        for (number, temperature, line) in [
            (0, 20_000, "         0,  20.000\n"),
            (9_999_999_999, 60_042, "9999999999,  60.042\n"),
            (7, 0, "         7,   0.000\n"),
        ] {
            let record = Record {
                number,
                temperature,
            };
            assert_eq!(record.line().as_str(), line);
            assert_eq!(line.len(), RECORD);
        }
    }
}
