//! Both ends of a channel, each with a peer that writes arbitrary values.
#![cfg_attr(fuzzing, no_main)]

#[macro_use]
mod any;

use core::sync::atomic::{AtomicU64, Ordering};
use core_ring::Area;
use core_ring::message::{
    CONSUMER_BYTES, Consumer, End, Parts, Producer, STATUS_BYTES, Shape, Supervisor,
};

fn words(bytes: usize) -> Vec<AtomicU64> {
    (0..bytes / 8).map(|_| AtomicU64::new(0)).collect()
}

target!(|input: (u8, u8, Vec<(u8, u8, u64)>)| {
    let (slots, size, steps) = input;
    let Ok(shape) = Shape::new(1 << (slots % 5), u32::from(size)) else {
        return;
    };
    let memory = [shape.producer_bytes(), CONSUMER_BYTES, STATUS_BYTES].map(words);
    let [producer, consumer, status] = memory.each_ref().map(|part| Area::new(part));
    let parts = Parts {
        producer,
        consumer,
        status,
    };
    let Ok(supervisor) = Supervisor::attach(&parts, shape) else {
        return;
    };
    let mut sender = Producer::attach(&parts, shape).unwrap();
    let mut receiver = Consumer::attach(&parts, shape).unwrap();
    for (kind, at, value) in steps {
        let mut buffer = [0; 256];
        match kind % 8 {
            0 => producer.store(usize::from(at) * 8, value, Ordering::Relaxed),
            1 => consumer.store(usize::from(at) * 8, value, Ordering::Relaxed),
            2 => _ = sender.send(&buffer[..usize::from(at)]),
            3 => _ = sender.request_doorbell(),
            4 => {
                if let Ok((length, _)) = receiver.receive_into(&mut buffer) {
                    assert!(length <= shape.size());
                }
            }
            5 => _ = receiver.request_doorbell(),
            6 => {
                _ = supervisor.connect(if value & 1 == 0 {
                    End::Producer
                } else {
                    End::Consumer
                })
            }
            _ => {
                _ = supervisor.disconnect(if value & 1 == 0 {
                    End::Producer
                } else {
                    End::Consumer
                })
            }
        }
    }
});
