//! VM that makes the requests and checks the results.

use crate::responder::STORM;
use crate::{Message, message, number, wish};
use tenon::environment;
use tenon::time::{Duration, Instant};
use tenon_channel::{Error, Receiver, Sender};

/// Time-out longer than any case.
const PATIENCE: Duration = Duration::from_millis(500);

struct Suite {
    there: Sender,
    back: Receiver,
    failed: u32,
}

/// Runs all cases, hostile ones last.
pub fn run(there: Sender, back: Receiver) {
    let mut suite = Suite {
        there,
        back,
        failed: 0,
    };
    suite.case("messages come once and in order", Suite::order);
    suite.case("a full channel says so and waits to its limit", Suite::full);
    suite.case(
        "an empty channel says so and waits to its limit",
        Suite::empty,
    );
    suite.case("what is too long is refused", Suite::too_long);
    suite.case("an end is opened once", Suite::once);
    suite.case("a storm of doorbells is one at most", Suite::storm);
    suite.case("other channels' doorbells are denied", Suite::trespass);
    suite.case(
        "a doorbell is rung while a masked interrupt waits",
        Suite::masked,
    );
    suite.case(
        "a peer that dies is told once, and its successor heard",
        Suite::death,
    );
    suite.case("a peer that lies harms itself alone", Suite::lies);
    suite.case("messages come once and in order again", Suite::order);
    match suite.failed {
        0 => tenon::log::info!("channel-test: all cases hold"),
        count => tenon::log::error!("channel-test: {count} cases FAILED"),
    }
}

type Outcome = Result<(), Error>;

/// Converts a condition to a result; the error means that the case failed.
fn holds(condition: bool) -> Outcome {
    condition.then_some(()).ok_or(Error::Malformed)
}

impl Suite {
    fn case(&mut self, name: &str, case: fn(&mut Self) -> Outcome) {
        match case(self) {
            Ok(()) => tenon::log::info!("ok {name}"),
            Err(error) => {
                self.failed += 1;
                tenon::log::error!("FAILED {name}: {error}");
            }
        }
    }

    fn ask(&mut self, wish: u8, number: u64) -> Outcome {
        let deadline = Instant::now() + PATIENCE;
        self.there.send_until(&message(wish, number), deadline)
    }

    /// Sends a request and returns the answer.
    fn answer(&mut self, wish: u8) -> Result<u64, Error> {
        let mut answer: Message = message(0, 0);
        let deadline = Instant::now() + PATIENCE;
        let length = self.back.read_until(&mut answer, deadline)?;
        holds(length == answer.len() && answer[0] == wish)?;
        Ok(number(&answer))
    }

    fn order(&mut self) -> Outcome {
        self.ask(wish::REPORT, 0)?;
        let before = self.answer(wish::REPORT)? >> 1;
        for number in before..before + 500 {
            self.ask(wish::COUNT, number)?;
        }
        self.ask(wish::REPORT, 0)?;
        holds(self.answer(wish::REPORT)? == (before + 500) << 1 | 1)
    }

    fn full(&mut self) -> Outcome {
        self.ask(wish::REPORT, 0)?;
        let before = self.answer(wish::REPORT)? >> 1;
        self.ask(wish::PAUSE, 0)?;
        self.answer(wish::PAUSE)?;
        let mut sent = before;
        while self.there.try_send(&message(wish::COUNT, sent)).is_ok() {
            sent += 1;
        }
        let full = self.there.try_send(&message(wish::COUNT, sent));
        let begin = Instant::now();
        let limit = begin + Duration::from_millis(1);
        let waited = self.there.send_until(&message(wish::COUNT, sent), limit);
        let in_time = Instant::now().since(begin) < Duration::from_millis(5);
        // Blocks until the responder has received a message.
        self.ask(wish::COUNT, sent)?;
        self.ask(wish::REPORT, 0)?;
        holds(self.answer(wish::REPORT)? == (sent + 1) << 1 | 1)?;
        holds(full == Err(Error::Full) && waited == Err(Error::TimedOut) && in_time)
    }

    fn empty(&mut self) -> Outcome {
        let mut buffer = [0; 8];
        holds(self.back.try_read(&mut buffer) == Err(Error::Empty))?;
        let begin = Instant::now();
        let limit = begin + Duration::from_millis(2);
        holds(self.back.read_until(&mut buffer, limit) == Err(Error::TimedOut))?;
        let waited = Instant::now().since(begin);
        holds((Duration::from_millis(2)..Duration::from_millis(6)).contains(&waited))
    }

    fn too_long(&mut self) -> Outcome {
        let long = [0; 65];
        holds(self.there.try_send(&long) == Err(Error::TooLong))
    }

    fn once(&mut self) -> Outcome {
        let refusals = [
            Sender::open("there").err(),
            Sender::open("back").err(),
            Receiver::open("nowhere").err(),
        ];
        holds(
            refusals
                == [
                    Some(Error::Taken),
                    Some(Error::OtherEnd),
                    Some(Error::Absent),
                ],
        )
    }

    /// With shared interrupts, each doorbell is an exit.
    fn storm(&mut self) -> Outcome {
        let exits = || environment::status().map_or(0, |status| status.exits());
        let before = exits();
        self.ask(wish::STORM, 0)?;
        holds(self.answer(wish::STORM)? == STORM)?;
        holds(exits() - before < 50)
    }

    fn masked(&mut self) -> Outcome {
        self.ask(wish::MASKED, 0)?;
        holds(self.answer(wish::MASKED)? == 1)
    }

    fn trespass(&mut self) -> Outcome {
        // There are three channels, two of which the responder receives or sends on.
        self.ask(wish::TRESPASS, 0)?;
        holds(self.answer(wish::TRESPASS)? == 1)
    }

    fn death(&mut self) -> Outcome {
        self.ask(wish::DIE, 0)?;
        self.gone()?;
        self.answered_anew()
    }

    fn lies(&mut self) -> Outcome {
        self.ask(wish::LIE, 0)?;
        let mut buffer = [0; 64];
        // Messages may be arbitrary until the responder's end closes.
        loop {
            let deadline = Instant::now() + PATIENCE;
            match self.back.read_until(&mut buffer, deadline) {
                Ok(length) => holds(length <= buffer.len())?,
                Err(Error::PeerGone) => break,
                Err(Error::Corrupt) => {}
                Err(error) => return Err(error),
            }
        }
        holds(self.there.try_send(&message(wish::REPORT, 0)) == Err(Error::PeerGone))?;
        self.answered_anew()
    }

    /// The responder is gone: both channels report it once.
    fn gone(&mut self) -> Outcome {
        let mut buffer = [0; 8];
        let deadline = Instant::now() + PATIENCE;
        holds(self.back.read_until(&mut buffer, deadline) == Err(Error::PeerGone))?;
        holds(self.back.try_read(&mut buffer) != Err(Error::PeerGone))?;
        let told = self.there.try_send(&message(wish::COUNT, 0));
        holds(told == Err(Error::PeerGone))
    }

    /// The restarted responder answers the messages that are still in the channel.
    fn answered_anew(&mut self) -> Outcome {
        self.ask(wish::REPORT, 0)?;
        let counted = self.answer(wish::REPORT)?;
        holds(counted == 1 && self.there.is_connected() && self.back.is_connected())
    }
}
