//! Empty volumes, for tests on the host.

use tenon_block::SECTOR;

/// The content of a device with an empty volume: FAT12, FAT16 or FAT32, as the number of its clusters
/// of `cluster` sectors states.
#[must_use]
pub fn empty(sectors: u32, cluster: u8) -> Vec<u8> {
    let clusters = sectors / u32::from(cluster);
    let (bits, reserved, root) = match clusters {
        0..4085 => (12, 1, 64),
        4085..65_525 => (16, 1, 512),
        _ => (32, 32, 0),
    };
    let table = (clusters + 2).div_ceil(SECTOR as u32 * 8 / bits);
    let mut boot = [0; SECTOR];
    let mut put = |at: usize, bytes: &[u8]| boot[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"\xeb\x3c\x90TENONOS ");
    put(11, &512u16.to_le_bytes());
    put(13, &[cluster]);
    put(14, &(reserved as u16).to_le_bytes());
    put(16, &[2]);
    put(17, &(root as u16).to_le_bytes());
    put(21, &[0xf8]);
    put(32, &sectors.to_le_bytes());
    if bits == 32 {
        put(36, &table.to_le_bytes());
        put(44, &[2]);
        put(48, &[1]);
        put(50, &[6]);
        put(66, b"\x29\x01\x02\x03\x04NO NAME    FAT32   ");
    } else {
        put(22, &(table as u16).to_le_bytes());
        put(38, b"\x29\x01\x02\x03\x04NO NAME    ");
        put(54, if bits == 12 { b"FAT12   " } else { b"FAT16   " });
    }
    put(510, b"\x55\xaa");
    let mut content = vec![0; sectors as usize * SECTOR];
    content[..SECTOR].copy_from_slice(&boot);
    let first: &[u8] = match bits {
        12 => b"\xf8\xff\xff",
        16 => b"\xf8\xff\xff\xff",
        _ => b"\xf8\xff\xff\x0f\xff\xff\xff\x0f\xff\xff\xff\x0f",
    };
    for number in 0..2 {
        let at = (reserved + number * table) as usize * SECTOR;
        content[at..at + first.len()].copy_from_slice(first);
    }
    if bits == 32 {
        content.copy_within(..SECTOR, 6 * SECTOR);
        for (at, bytes) in [(0, b"RRaA"), (484, b"rrAa"), (508, b"\0\0\x55\xaa")] {
            content[SECTOR + at..SECTOR + at + 4].copy_from_slice(bytes);
        }
        content[SECTOR + 488..SECTOR + 496].fill(0xff);
    }
    content
}
