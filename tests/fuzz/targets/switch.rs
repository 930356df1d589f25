//! Cards on a switch with arbitrary registers, rings and buffers of each driver, modified between steps.
#![cfg_attr(fuzzing, no_main)]

#[macro_use]
mod any;

use core::cell::Cell;
use core_virtq::{Memory, Outside};
use mortise_vdev_net::{Port, Properties, Refusal, Wire, send};

const PORTS: usize = 3;

/// Memory of a driver, which is small so that random addresses hit it.
struct Ram([u8; 1024]);

impl Memory for Ram {
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Outside> {
        self.0.read(at, bytes)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Outside> {
        self.0.write(at, bytes)
    }
}

/// The drivers' memory, and the number of steps until an interrupt is pending.
struct Machine {
    rams: [Ram; PORTS],
    ends: [usize; 2],
    steps: Cell<u8>,
}

impl Wire for Machine {
    type Memory = Ram;

    fn is_interrupted(&self) -> bool {
        self.steps.set(self.steps.get().saturating_sub(1));
        self.steps.get() == 0
    }

    fn now(&self) -> u64 {
        self.steps.get().into()
    }

    fn sender(&mut self) -> &mut Ram {
        &mut self.rams[self.ends[0]]
    }

    fn choose(&mut self, port: usize) {
        self.ends[1] = port;
    }

    fn receiver(&mut self) -> &mut Ram {
        &mut self.rams[self.ends[1]]
    }

    fn copy(&mut self, from: u64, to: u64, size: u32) -> Result<u32, Refusal> {
        let mut bytes = vec![0; size as usize];
        let [sender, receiver] = self.ends;
        let read = self.rams[sender].read(from, &mut bytes);
        read.map_err(|_| Refusal::Source)?;
        let written = self.rams[receiver].write(to, &bytes);
        written.map_err(|_| Refusal::Target)?;
        Ok(size)
    }

    fn interrupt(&mut self, port: usize) {
        assert!(port < PORTS);
    }
}

target!(|steps: Vec<(u8, u16, u32)>| {
    let ports: [Port; PORTS] = core::array::from_fn(|_| Port::new());
    let mut machine = Machine {
        rams: core::array::from_fn(|_| Ram([0; 1024])),
        ends: [0; 2],
        steps: Cell::new(0),
    };
    for (number, port) in ports.iter().enumerate() {
        port.set_properties(Properties {
            address: 0x02,
            peers: 0b111 & !(1 << number),
            rate: number as u64 * 1_000_000,
        });
        // The state after a driver's setup, with both queues in its memory.
        for (at, value) in [(0x024, 1), (0x020, 1), (0x070, 11)] {
            let _ = port.write(at, 4, value);
        }
        for queue in [0, 1] {
            for (at, value) in [
                (0x030, queue),
                (0x038, 8),
                (0x080, queue * 0x180),
                (0x090, queue * 0x180 + 128),
                (0x0a0, queue * 0x180 + 256),
                (0x044, 1),
            ] {
                let _ = port.write(at, 4, value);
            }
        }
        let _ = port.write(0x070, 4, 15);
    }
    for (kind, at, value) in steps {
        let own = usize::from(kind >> 4) % PORTS;
        let (port, at) = (&ports[own], usize::from(at));
        match kind % 8 {
            0 => {
                let _ = port.write(at % 0x200, 4, value.into());
            }
            1 => {
                let _ = port.read(at % 0x200, kind >> 4);
            }
            2 | 3 => {
                let _ = machine.rams[own].write(at as u64 % 1024, &value.to_le_bytes());
            }
            // Makes a descriptor of one of the queues available.
            4 => {
                let ring = (at & 1) * 0x180 + 128;
                let ram = &mut machine.rams[own].0;
                ram[ring + 2] = ram[ring + 2].wrapping_add(1);
                ram[ring + 4 + usize::from(ram[ring + 2] % 8) * 2] = (at >> 1) as u8 % 8;
            }
            5 => {
                let _ = port.reset();
            }
            _ => {
                machine.ends[0] = own;
                machine.steps.set(value as u8);
                let _ = port.write(0x050, 4, 1);
                let _ = send(&ports, own, &mut machine);
            }
        }
    }
});
