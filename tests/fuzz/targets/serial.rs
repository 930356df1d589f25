//! The virtual PL011 and the console line with arbitrary guest accesses and input.
#![cfg_attr(fuzzing, no_main)]

#[macro_use]
mod any;

use core_manifest::Name;
use mortise_console::{Argument, Attempt, Console, Port, Progress, TURN, Words};
use mortise_vdev_pl011::Pl011;

struct Nowhere;

impl Port for Nowhere {
    fn is_ready(&mut self) -> bool {
        true
    }
    fn put(&mut self, _: u8) {}
}

target!(|steps: Vec<(u8, u16, u32)>| {
    let mut serial = Pl011::new();
    let mut console = Console::new();
    let name = Name::new(b"name").expect("a name");
    let mut now = 0;
    for (kind, at, value) in steps {
        let vm = usize::from(at);
        match kind % 6 {
            0 => {
                let _ = serial.write(at.into(), value);
            }
            1 => {
                serial.read(at.into());
            }
            2 => {
                let full = serial.is_full();
                assert_eq!(serial.receive(value as u8), !full);
            }
            3 => {
                let core = usize::from(kind / 6) % 2;
                now += u64::from(value);
                for byte in value.to_le_bytes() {
                    let before = now;
                    let attempt = |now| Attempt {
                        name: &name,
                        now,
                        core,
                    };
                    while console.put(vm, byte, &mut Nowhere, || attempt(now)) != Progress::Written
                    {
                        now += 1_000;
                    }
                    assert!(now - before <= 20 * TURN, "it waits too long");
                }
            }
            4 => {
                let arguments = &[Argument::Decimal(value.into())];
                let words = Words {
                    text: "{}",
                    arguments,
                };
                console.say(value.into(), &name, words);
            }
            _ => {
                console.input(value as u8, vm);
            }
        }
    }
});
