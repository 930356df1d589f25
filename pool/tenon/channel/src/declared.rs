//! Channel ends that the system assigns to this VM.

use crate::{Bell, Error, Line, Peer, Receiver, Sender};
use core::sync::atomic::{AtomicBool, Ordering};
use core_ring::message::{Consumer, Parts, Producer, Shape};
use tenon_thread::environment;
use tenon_thread::interrupt::{self, Trigger};
use tenon_thread::thread::{self, PreemptionLock};

/// Maximum number of ends of a VM. Their doorbells have consecutive INTIDs from a multiple of this
/// on.
const ENDS: usize = environment::ENDS;

/// The first SPI (GICv3, IHI 0069, 2.2).
const SHARED: u32 = 32;

struct End {
    bell: Bell,
    open: AtomicBool,
    /// Whether its doorbell has a handler.
    heard: AtomicBool,
}

static OPEN: [End; ENDS] = [const {
    End {
        bell: Bell::new(),
        open: AtomicBool::new(false),
        heard: AtomicBool::new(false),
    }
}; ENDS];

fn at(intid: u32) -> Option<&'static End> {
    OPEN.get(intid as usize % ENDS)
}

pub(crate) fn sender(name: &str) -> Result<Sender, Error> {
    let (parts, shape, line) = open(name, true)?;
    let producer = Producer::attach(&parts, shape)?;
    Ok(Sender { producer, line })
}

pub(crate) fn receiver(name: &str) -> Result<Receiver, Error> {
    let (parts, shape, line) = open(name, false)?;
    let consumer = Consumer::attach(&parts, shape)?;
    Ok(Receiver { consumer, line })
}

type Opened = (Parts<'static>, Shape, Line);

fn open(name: &str, sends: bool) -> Result<Opened, Error> {
    let channel = environment::channel(name).ok_or(Error::Absent)?;
    if channel.sends != sends {
        return Err(Error::OtherEnd);
    }
    let shape = Shape::new(channel.slots, channel.size)?;
    let end = at(channel.interrupt).ok_or(Error::Malformed)?;
    if end.open.swap(true, Ordering::AcqRel) {
        return Err(Error::Taken);
    }
    listen(end, channel.interrupt).inspect_err(|_| end.open.store(false, Ordering::Release))?;
    let parts = Parts {
        producer: channel.producer,
        consumer: channel.consumer,
        status: channel.status,
    };
    let line = Line {
        bell: &end.bell,
        peer: Peer::Vm(channel.number),
        open: &end.open,
        supervisor: None,
    };
    Ok((parts, shape, line))
}

/// Registers the doorbell's handler, on the core that the doorbell targets.
fn listen(end: &End, intid: u32) -> Result<(), Error> {
    if end.heard.load(Ordering::Acquire) {
        return Ok(());
    }
    let _here = PreemptionLock::new();
    if intid < SHARED && thread::core() != 0 {
        return Err(Error::Core);
    }
    let registered = interrupt::register(intid, Trigger::Edge, |intid| {
        if let Some(end) = at(intid) {
            end.bell.ring();
        }
    });
    registered.map_err(|_| Error::Interrupt(intid))?;
    end.heard.store(true, Ordering::Release);
    Ok(())
}
