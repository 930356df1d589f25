//! [`Settings`] of the network: constants of the image.

use crate::buffers::{Place, Room};
#[cfg(not(target_os = "none"))]
use crate::buffers::{SmallMemory, SmallTables};
use core::net::Ipv4Addr;

/// Settings of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Static address and length of its prefix; by DHCP if there is none.
    pub address: Option<(Ipv4Addr, u8)>,
    /// Router to other networks, for a static address.
    pub gateway: Option<Ipv4Addr>,
    /// Period of the network thread in microseconds.
    pub period_us: usize,
    /// The most frames processed per period.
    pub frames: usize,
    /// Priority of the network thread.
    pub priority: usize,
    /// Budget of the network thread per period in microseconds; zero without a server.
    pub budget_us: usize,
    /// Whether this host reaches itself, also without a card.
    pub loopback: bool,
}

impl Settings {
    /// Settings with these addresses as text, or empty strings.
    ///
    /// # Panics
    ///
    /// When the image is compiled, if a text is no address.
    #[must_use]
    pub const fn new(address: &str, gateway: &str) -> Self {
        let address = match parse(address.as_bytes()) {
            Some((address, Some(prefix))) => Some((address, prefix)),
            _ => {
                assert!(
                    address.is_empty(),
                    "TENON_INET_ADDRESS is not an IPv4 address with a prefix, as 10.0.2.15/24"
                );
                None
            }
        };
        let gateway = match parse(gateway.as_bytes()) {
            Some((gateway, None)) => Some(gateway),
            _ => {
                assert!(
                    gateway.is_empty(),
                    "TENON_INET_GATEWAY is not an IPv4 address, as 10.0.2.2"
                );
                None
            }
        };
        Self {
            address,
            gateway,
            period_us: 1000,
            frames: 32,
            priority: 8,
            budget_us: 0,
            loopback: false,
        }
    }
}

/// Address of one host, and the length of its prefix if the text has one.
const fn parse(text: &[u8]) -> Option<(Ipv4Addr, Option<u8>)> {
    let mut numbers = [0u16; 5];
    let (mut number, mut digits, mut at) = (0, 0, 0);
    while at < text.len() {
        let separator = if number == 3 { b'/' } else { b'.' };
        if text[at].is_ascii_digit() && digits < 3 {
            numbers[number] = numbers[number] * 10 + (text[at] - b'0') as u16;
            digits += 1;
        } else if text[at] == separator && digits > 0 && number < 4 {
            number += 1;
            digits = 0;
        } else {
            return None;
        }
        at += 1;
    }
    let [a, b, c, d, prefix] = numbers;
    if number < 3 || digits == 0 || a > 255 || b > 255 || c > 255 || d > 255 || prefix > 32 {
        return None;
    }
    let address = Ipv4Addr::new(a as u8, b as u8, c as u8, d as u8);
    if !is_host(address) {
        return None;
    }
    let prefix = if number == 4 {
        Some(prefix as u8)
    } else {
        None
    };
    Some((address, prefix))
}

/// Whether an address may be that of one host.
pub(crate) const fn is_host(address: Ipv4Addr) -> bool {
    !address.is_unspecified() && !address.is_multicast() && !address.is_broadcast()
}

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `settings!` defines this static with the same type, and no code writes it.
    safe static TENON_INET: Settings;
    // SAFETY: as above.
    safe static TENON_INET_MEMORY: &'static dyn Place;
}

/// Settings without an image: an address by DHCP.
#[cfg(not(target_os = "none"))]
static TENON_INET: Settings = Settings::new("", "");

/// Memory without an image.
#[cfg(not(target_os = "none"))]
static TENON_INET_MEMORY: &dyn Place = {
    static MEMORY: SmallMemory = SmallMemory::new();
    static TABLES: SmallTables = SmallTables::new();
    &(&MEMORY, &TABLES)
};

/// The memory of the image's stack; `None` if it is taken.
pub(crate) fn take_memory() -> Option<Room> {
    TENON_INET_MEMORY.take()
}

/// The settings of this image.
pub(crate) fn settings() -> &'static Settings {
    &TENON_INET
}

/// Defines the settings of an image; `config` is the module of its configuration.
#[doc(hidden)]
#[macro_export]
macro_rules! settings {
    (config: $config:path $(,)?) => {
        mod tenon_inet_settings {
            use $config as config;

            #[unsafe(no_mangle)]
            pub static TENON_INET: $crate::Settings = $crate::Settings {
                period_us: config::TENON_INET_PERIOD_US,
                frames: config::TENON_INET_FRAMES,
                priority: config::TENON_INET_PRIORITY,
                budget_us: config::TENON_INET_BUDGET_US,
                loopback: config::TENON_INET_LOOPBACK > 0,
                ..$crate::Settings::new(config::TENON_INET_ADDRESS, config::TENON_INET_GATEWAY)
            };

            const UDP: usize = config::TENON_INET_UDP_SOCKETS;
            const TCP: usize = config::TENON_INET_TCP_SOCKETS;
            // Apart from the tables, so that the buffers take no room in the image.
            static MEMORY: $crate::Memory<
                { 2 * (UDP + TCP) * config::TENON_INET_BUFFER },
                { config::TENON_INET_LOOPBACK },
            > = $crate::Memory::new();
            static TABLES: $crate::Tables<{ UDP + TCP + 1 }, { 2 * UDP }, TCP> =
                $crate::Tables::new();

            #[unsafe(no_mangle)]
            pub static TENON_INET_MEMORY: &dyn $crate::Place = &(&MEMORY, &TABLES);
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_and_others_refused() {
        let host = Ipv4Addr::new(10, 0, 2, 15);
        assert_eq!(parse(b"10.0.2.15"), Some((host, None)));
        assert_eq!(parse(b"10.0.2.15/24"), Some((host, Some(24))));
        for wrong in [
            "",
            "10",
            "10.0.2",
            "10.0.2.",
            "10.0.2.256",
            "10.0.2.15/",
            "10.0.2.15/33",
            "1..2.3",
            "10.0.2.15/24/1",
            "10.0.2.15.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "a.b.c.d",
            "0010.0.2.15",
            " 10.0.2.15",
        ] {
            assert_eq!(parse(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
