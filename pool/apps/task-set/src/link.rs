//! Channels to other virtual machines, in an image with the library for channels.

#[cfg(not(feature = "channel"))]
pub use absent::Links;
#[cfg(feature = "channel")]
pub use open::Links;

#[cfg(feature = "channel")]
mod open {
    use core::array;
    use core::fmt::Write;
    use core_log::Line;
    use tenon::log;
    use tenon_channel::{Error, Receiver, Sender};

    /// Maximum number of other VMs with tasks: a VM has eight ends of channels.
    const OTHERS: usize = 4;

    /// Number of channels among these and this one, each from one to another.
    const LINKS: usize = (OTHERS + 1) * OTHERS;

    /// Maximum size of a line in bytes.
    const LINE: usize = 64;

    /// The ends of channels that the system gives this VM.
    pub struct Links {
        to: [Option<Sender>; OTHERS],
        from: [Option<Receiver>; OTHERS],
        reports: Option<Sender>,
        setpoints: Option<Receiver>,
        /// The last value reported.
        reported: Option<u32>,
        /// Whether another VM has sent a value.
        heard: bool,
    }

    impl Links {
        /// No end.
        pub fn none() -> Self {
            Self {
                to: array::from_fn(|_| None),
                from: array::from_fn(|_| None),
                reports: None,
                setpoints: None,
                reported: None,
                heard: false,
            }
        }

        /// All ends of this VM.
        pub fn open() -> Self {
            let mut own = Self::none();
            for number in 1..=LINKS {
                let mut name = Line::<LINE>::new();
                // Writing to a `Line` never fails.
                let _ = write!(name, "link-{number}");
                let name = name.as_str();
                match Sender::open(name) {
                    Err(Error::OtherEnd) => put(&mut own.from, opened(name, Receiver::open(name))),
                    end => put(&mut own.to, opened(name, end)),
                }
            }
            own.reports = opened("reports", Sender::open("reports"));
            own.setpoints = opened("setpoints", Receiver::open("setpoints"));
            own
        }

        /// Sends a value to each other VM with tasks, and a line to Linux for each new value; waits
        /// for none. Returns the set point that was received, if any.
        pub fn exchange(&mut self, value: u32) -> Option<u32> {
            for end in self.to.iter_mut().flatten() {
                // Of a full channel the peer reads older values first; this one is not needed.
                let _ = end.try_send(&value.to_le_bytes());
            }
            for end in self.from.iter_mut().flatten() {
                let mut bytes = [0; size_of::<u32>()];
                if end.try_read(&mut bytes).is_ok() && !self.heard {
                    self.heard = true;
                    log::info!("another VM sends its value");
                }
            }
            if let Some(reports) = &mut self.reports
                && self.reported != Some(value)
            {
                let mut line = Line::<LINE>::new();
                // Writing to a `Line` never fails.
                let _ = writeln!(line, "value {value}");
                if reports.try_send(line.as_str().as_bytes()).is_ok() {
                    self.reported = Some(value);
                }
            }
            self.setpoints.as_mut().and_then(setpoint)
        }
    }

    fn put<End>(ends: &mut [Option<End>], end: Option<End>) {
        if let Some(place) = ends.iter_mut().find(|place| place.is_none()) {
            *place = end;
        }
    }

    /// An end, if the system has that channel; any other error is logged.
    fn opened<End>(name: &str, end: Result<End, Error>) -> Option<End> {
        end.inspect_err(|error| {
            if *error != Error::Absent {
                log::error!("{name}: {error}");
            }
        })
        .ok()
    }

    /// The number of a received line; other text is ignored.
    fn setpoint(end: &mut Receiver) -> Option<u32> {
        let mut line = [0; LINE];
        let length = end.try_read(&mut line).ok()?;
        let text = str::from_utf8(line.get(..length)?).ok()?;
        text.trim().parse().ok()
    }
}

#[cfg(not(feature = "channel"))]
mod absent {
    /// No channels.
    pub struct Links;

    impl Links {
        /// No end.
        pub const fn none() -> Self {
            Self
        }

        /// No end.
        pub const fn open() -> Self {
            Self
        }

        /// No set point.
        pub const fn exchange(&mut self, _value: u32) -> Option<u32> {
            None
        }
    }
}
