//! Model of a shared last-level cache.
//!
//! Every load and store of every core accesses one physically indexed cache with `ways` lines per set and
//! LRU replacement; a miss is counted for the accessing core. There are no inner levels, no instruction
//! fetches, and no latencies: the model shows evictions, not times.

use std::num::NonZeroU64;

/// Geometry of the cache: powers of two, with at least one line per way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    sets: u64,
    ways: usize,
    line: u64,
}

impl Geometry {
    /// A cache of `size` bytes in sets of `ways` lines; `None` if that is invalid.
    pub fn new(size: u64, ways: u64, line: u64) -> Option<Geometry> {
        let set = ways.checked_mul(line)?;
        let powers = [size, ways, line]
            .iter()
            .all(|number| number.is_power_of_two());
        (powers && set <= size).then(|| Geometry {
            sets: size / set,
            ways: ways as usize,
            line,
        })
    }
}

/// Contents of the cache: the lines of each set, most recently used first.
#[derive(Debug)]
pub struct Cache {
    geometry: Geometry,
    /// Line numbers plus one; zero is an invalid line.
    lines: Vec<Option<NonZeroU64>>,
}

impl Cache {
    /// An empty cache.
    pub fn new(geometry: Geometry) -> Self {
        Self {
            geometry,
            lines: vec![None; geometry.sets as usize * geometry.ways],
        }
    }

    /// Accesses the line of an address; returns whether it was a miss.
    pub fn access(&mut self, physical: u64) -> bool {
        let Geometry { sets, ways, line } = self.geometry;
        let number = physical / line;
        let first = (number % sets) as usize * ways;
        let set = &mut self.lines[first..first + ways];
        let wanted = NonZeroU64::new(number + 1);
        let found = set.iter().position(|held| *held == wanted);
        // Lines behind the found one keep their places.
        set[..=found.unwrap_or(ways - 1)].rotate_right(1);
        set[0] = wanted;
        found.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(size: u64, ways: u64) -> Cache {
        Cache::new(Geometry::new(size, ways, 64).unwrap())
    }

    fn sweep(cache: &mut Cache, from: u64, lines: u64) -> usize {
        (0..lines)
            .filter(|line| cache.access(from + 64 * line))
            .count()
    }

    #[test]
    fn what_fits_is_missed_once() {
        let mut cache = cache(0x1000, 4);
        assert_eq!(
            [0; 3].map(|_| sweep(&mut cache, 0x4000_0000, 64)),
            [64, 0, 0]
        );
        assert!(!cache.access(0x4000_003f), "the same line");
    }

    #[test]
    fn what_does_not_fit_displaces_itself() {
        let mut cache = cache(0x1000, 4);
        assert_eq!([0; 2].map(|_| sweep(&mut cache, 0, 128)), [128, 128]);
    }

    #[test]
    fn the_least_recently_used_line_goes() {
        let mut cache = cache(0x100, 4);
        let [a, b, c, d, e] = [0, 64, 128, 192, 256];
        for line in [a, b, c, d, a, e] {
            cache.access(line);
        }
        assert_eq!([a, c, d, e].map(|line| cache.access(line)), [false; 4]);
        assert!(cache.access(b));
    }

    #[test]
    fn a_neighbour_displaces_what_is_not_used_meanwhile() {
        let mut cache = cache(0x1000, 4);
        sweep(&mut cache, 0, 32);
        assert_eq!(sweep(&mut cache, 0x10_0000, 32), 32);
        assert_eq!(sweep(&mut cache, 0, 32), 0, "there is room for both");
        sweep(&mut cache, 0x10_0000, 64);
        assert_eq!(sweep(&mut cache, 0, 32), 32);
    }

    #[test]
    fn a_geometry_of_other_numbers_is_none() {
        assert_eq!(Geometry::new(0x1000, 3, 64), None);
        assert_eq!(Geometry::new(0x1000, 128, 64), None, "less than a set");
        assert_eq!(Geometry::new(0, 1, 64), None);
        assert_eq!(Geometry::new(0x1000, u64::MAX, 64), None);
    }
}
