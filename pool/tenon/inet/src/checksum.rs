//! Checksums of IPv4, UDP and TCP (RFC 1071), of frames from and for the card.
//!
//! Frames on their way to this host itself have none. The sum of 16-bit words is taken eight bytes at a
//! time: it does not depend on the order of bytes in a word (RFC 1071, 2).

/// The places of an IPv4 packet in a frame that have checksums.
struct Parts {
    /// Its header.
    header: core::ops::Range<usize>,
    /// The datagram or segment behind it, and where its checksum is; `None` for other protocols and
    /// for fragments.
    body: Option<(core::ops::Range<usize>, usize)>,
    protocol: u8,
    /// Where the packet ends.
    end: usize,
}

const ICMP: u8 = 1;
const UDP: u8 = 17;
const TCP: u8 = 6;
const ETHERNET: usize = 14;

/// Whether a frame has a packet of IPv4.
fn is_ipv4(frame: &[u8]) -> bool {
    frame.get(12..ETHERNET) == Some(&[8, 0])
}

/// The parts of a packet of IPv4 in a frame; `None` if it is malformed.
fn parts(frame: &[u8]) -> Option<Parts> {
    let packet = frame.get(ETHERNET..)?;
    let fixed = packet.first_chunk::<20>()?;
    let header = usize::from(fixed[0] & 0xf) * 4;
    let length = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    if header < 20 || length < header || packet.len() < length {
        return None;
    }
    let protocol = fixed[9];
    let (begin, end) = (ETHERNET + header, ETHERNET + length);
    let is_whole = fixed[6] & 0x3f == 0 && fixed[7] == 0;
    let place = match protocol {
        UDP => 6,
        TCP => 16,
        _ => end,
    };
    let has_sum = is_whole && begin + place + 2 <= end;
    Some(Parts {
        header: ETHERNET..begin,
        body: has_sum.then_some((begin..end, begin + place)),
        protocol,
        end,
    })
}

/// The sum of the words of some bytes, of which those behind an odd number are another part's.
fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let whole = words.iter().fold(0, |sum: u64, word| {
        let word = u64::from_le_bytes(*word);
        sum + (word & 0xffff_ffff) + (word >> 32)
    });
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let last = u64::from_le_bytes(last);
    whole + (last & 0xffff_ffff) + (last >> 32)
}

/// The one's complement sum as one word.
const fn folded(sum: u64) -> u16 {
    let mut sum = sum;
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The sum of a datagram or segment with its pseudo header (RFC 768, RFC 9293, 3.1).
fn sum_of_body(frame: &[u8], body: core::ops::Range<usize>, protocol: u8) -> u64 {
    let addresses = sum(&frame[ETHERNET + 12..ETHERNET + 20]);
    let length = (body.len() as u16).to_be_bytes();
    addresses + sum(&[0, protocol, length[0], length[1]]) + sum(&frame[body])
}

/// Whether the checksums of a frame are right: all that are not those of IPv4 are for its parser.
pub(crate) fn is_intact(frame: &[u8]) -> bool {
    if !is_ipv4(frame) {
        return true;
    }
    let Some(parts) = parts(frame) else {
        return false;
    };
    let is_header_intact = folded(sum(&frame[parts.header])) == u16::MAX;
    is_header_intact
        && parts.body.is_none_or(|(body, place)| {
            let has_none = parts.protocol == UDP && frame[place..place + 2] == [0; 2];
            has_none || folded(sum_of_body(frame, body, parts.protocol)) == u16::MAX
        })
}

/// Writes the checksum of some bytes at a place among them.
fn put(bytes: &mut [u8], place: usize) {
    bytes[place..place + 2].fill(0);
    let word = !folded(sum(bytes));
    bytes[place..place + 2].copy_from_slice(&word.to_le_bytes());
}

/// Writes the checksums of a frame.
pub(crate) fn complete(frame: &mut [u8]) {
    let Some(parts) = parts(frame).filter(|_| is_ipv4(frame)) else {
        return;
    };
    let end = parts.end;
    let body = parts.header.end;
    put(&mut frame[parts.header], 10);
    // A destination that is unreachable: the header of the datagram is in it (RFC 792).
    if parts.protocol == ICMP && frame[body..end].first() == Some(&3) && end - body >= 28 {
        put(&mut frame[body + 8..body + 28], 10);
        put(&mut frame[body..end], 2);
    }
    if let Some((body, place)) = parts.body {
        frame[place..place + 2].fill(0);
        let word = !folded(sum_of_body(frame, body, parts.protocol));
        // Zero states that there is none.
        let word = if word == 0 { u16::MAX } else { word };
        frame[place..place + 2].copy_from_slice(&word.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use smoltcp::phy::ChecksumCapabilities;
    use smoltcp::wire::{
        IpAddress, IpProtocol, Ipv4Address, Ipv4Packet, Ipv4Repr, UdpPacket, UdpRepr,
    };

    /// A datagram in a frame, with checksums by smoltcp.
    fn datagram(bytes: &[u8], [source, destination]: [u32; 2]) -> Vec<u8> {
        let all = ChecksumCapabilities::default();
        let (source, destination) = (Ipv4Address::from(source), Ipv4Address::from(destination));
        let mut frame = vec![0; ETHERNET + 28 + bytes.len()];
        frame[12..14].copy_from_slice(&[8, 0]);
        let mut packet = Ipv4Packet::new_unchecked(&mut frame[ETHERNET..]);
        let repr = Ipv4Repr {
            src_addr: source,
            dst_addr: destination,
            next_header: IpProtocol::Udp,
            payload_len: 8 + bytes.len(),
            hop_limit: 64,
        };
        repr.emit(&mut packet, &all);
        let mut udp = UdpPacket::new_unchecked(packet.payload_mut());
        let ports = UdpRepr {
            src_port: 7,
            dst_port: 8,
        };
        let (from, to) = (IpAddress::Ipv4(source), IpAddress::Ipv4(destination));
        let fill = |payload: &mut [u8]| payload.copy_from_slice(bytes);
        ports.emit(&mut udp, &from, &to, bytes.len(), fill, &all);
        frame
    }

    proptest! {
        #[test]
        fn they_are_those_of_the_protocols(
            bytes in prop::collection::vec(any::<u8>(), 0..1472),
            addresses in any::<[u32; 2]>(),
            place in any::<prop::sample::Index>(),
        ) {
            let frame = datagram(&bytes, addresses);
            prop_assert!(is_intact(&frame));
            let mut again = frame.clone();
            again[ETHERNET + 10..ETHERNET + 12].fill(1);
            again[ETHERNET + 26..ETHERNET + 28].fill(1);
            complete(&mut again);
            prop_assert_eq!(&again, &frame);
            // Behind the version and the lengths, a changed bit of the packet is found.
            let place = ETHERNET + 8 + place.index(frame.len() - ETHERNET - 8);
            again[place] ^= 0x10;
            let has_sum = again[ETHERNET + 26..ETHERNET + 28] != [0; 2];
            let is_length = (ETHERNET + 24..ETHERNET + 26).contains(&place);
            prop_assert!(!is_intact(&again) || !has_sum || place == ETHERNET + 9 || is_length);
        }

        #[test]
        fn any_bytes_have_some(mut frame in prop::collection::vec(any::<u8>(), 0..64)) {
            if frame.len() > 14 {
                frame[12..14].copy_from_slice(&[8, 0]);
            }
            let _ = is_intact(&frame);
            complete(&mut frame);
            prop_assert_eq!(is_intact(&frame), !is_ipv4(&frame) || parts(&frame).is_some());
        }
    }
}
