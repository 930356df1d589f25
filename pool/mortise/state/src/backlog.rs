//! Recent output of an instance, kept for its manager.

/// Bytes kept.
const ROOM: usize = 1024;

/// Last bytes that were printed and not read. The oldest are overwritten.
pub struct Backlog {
    bytes: [u8; ROOM],
    /// Counts of bytes printed, and of bytes read or overwritten; free running.
    head: usize,
    tail: usize,
}

impl Backlog {
    /// An empty backlog.
    pub const fn empty() -> Self {
        Self {
            bytes: [0; ROOM],
            head: 0,
            tail: 0,
        }
    }

    /// Discards all bytes.
    pub const fn clear(&mut self) {
        self.tail = self.head;
    }

    /// Appends output.
    pub fn push(&mut self, printed: &[u8]) {
        for &byte in printed {
            self.bytes[self.head % ROOM] = byte;
            self.head = self.head.wrapping_add(1);
        }
        if self.head.wrapping_sub(self.tail) > ROOM {
            self.tail = self.head.wrapping_sub(ROOM);
        }
    }

    /// Moves the oldest bytes into `buffer`; returns their number.
    pub fn pop(&mut self, buffer: &mut [u8]) -> usize {
        let count = self.head.wrapping_sub(self.tail).min(buffer.len());
        // Up to the end of the buffer, and on from its start.
        let start = self.tail % ROOM;
        let (first, second) = buffer[..count].split_at_mut(count.min(ROOM - start));
        first.copy_from_slice(&self.bytes[start..start + first.len()]);
        second.copy_from_slice(&self.bytes[..second.len()]);
        self.tail = self.tail.wrapping_add(count);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_bytes_are_overwritten() {
        let mut backlog = Backlog::empty();
        let mut buffer = [0; 8];
        assert_eq!(backlog.pop(&mut buffer), 0);
        backlog.push(b"hello");
        assert_eq!(
            (backlog.pop(&mut buffer[..2]), &buffer[..2]),
            (2, &b"he"[..])
        );
        backlog.push(&[b'x'; ROOM]);
        assert_eq!((backlog.pop(&mut buffer), buffer), (8, [b'x'; 8]));
        let mut rest = 8;
        while backlog.pop(&mut buffer[..1]) == 1 {
            rest += 1;
        }
        assert_eq!(rest, ROOM);
        backlog.push(b"more");
        backlog.clear();
        assert_eq!(backlog.pop(&mut buffer), 0);
    }
}
