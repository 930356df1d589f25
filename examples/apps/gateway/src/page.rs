//! The page with the histogram, and its values as JSON.

use crate::histogram::{BUCKETS, begin_us};
use crate::state::Values;
use core::fmt::{self, Write};

/// Begin of the page, up to the values.
const HEAD: &str = "<!doctype html>\n<html lang=en><meta charset=utf-8>\
<meta name=viewport content=\"width=device-width\"><meta http-equiv=refresh content=1>\
<title>Control loop</title>\n<style>
:root{--ink:#16202b;--dim:#66727f;--line:#dfe5eb;--card:#fff;--back:#f3f5f8;--bar:#2563c9;--late:#c8372d}
@media(prefers-color-scheme:dark){:root{--ink:#e7edf3;--dim:#93a0ad;--line:#2b3540;--card:#171e26;\
--back:#0f141a;--bar:#5b96f5;--late:#f0685e}}
body{margin:0;background:var(--back);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:760px;margin:0 auto;padding:32px 20px}
h1{font-size:22px;font-weight:600;margin:0}p{color:var(--dim);margin:4px 0 20px}a{color:var(--bar)}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:0 0 12px}
div,svg{background:var(--card);border:1px solid var(--line);border-radius:10px}
div{padding:10px 14px}dt{color:var(--dim);font-size:13px}
dd{margin:0;font-size:22px;font-variant-numeric:tabular-nums}
svg{display:block;width:100%;box-sizing:border-box}
text{font:11px system-ui,sans-serif;fill:var(--dim);text-anchor:middle}
.n{fill:var(--ink)}rect{fill:var(--bar)}.late{fill:var(--late)}line{stroke:var(--line)}
</style>
<main><h1>Control loop</h1><p>";

/// End of the page.
const TAIL: &str = "</svg><p>Number of jobs by latency, on a logarithmic scale; \
<a href=/histogram.json>as JSON</a></p></main>\n";

/// Size of the plot, and of the place of each bar in it.
const WIDTH: usize = 720;
const HEIGHT: u64 = 290;
const PITCH: usize = 50;
/// Baseline of the bars, and the height of the highest.
const BASE: u64 = 246;
const HIGHEST: u64 = 210;

/// Writes the page.
///
/// # Errors
///
/// If it does not fit.
pub fn html(page: &mut impl Write, state: &Values) -> fmt::Result {
    let (values, period_us) = (&state.latencies, state.period_ns / 1000);
    page.write_str(HEAD)?;
    writeln!(
        page,
        "every {} µs on Tenon: temperature, and time from each release to its job, live</p>",
        Grouped(period_us)
    )?;
    page.write_str("<dl>")?;
    let microseconds = (values.largest_ns / 1000, values.largest_ns % 1000 / 100);
    let tenths = state.temperature / 100;
    tile(
        page,
        "temperature",
        format_args!("{}.{} °C", tenths / 10, tenths % 10),
    )?;
    tile(
        page,
        "releases",
        format_args!("{}", Grouped(values.total())),
    )?;
    tile(
        page,
        "largest latency",
        format_args!("{}.{} µs", Grouped(microseconds.0), microseconds.1),
    )?;
    tile(
        page,
        "beyond the deadline",
        format_args!("{}", Grouped(values.late)),
    )?;
    write!(
        page,
        "</dl>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=img>"
    )?;
    write!(page, "<title>Histogram of latencies</title>")?;
    let most = values.counts.iter().copied().max().unwrap_or(0);
    for (number, count) in values.counts.into_iter().enumerate() {
        let left = 10 + number * PITCH;
        let middle = left + PITCH / 2;
        let height = (magnitude(count) * HIGHEST).checked_div(magnitude(most));
        let height = height.unwrap_or(0);
        let top = BASE - height;
        if count > 0 {
            let class = if begin_us(number) < period_us {
                ""
            } else {
                " class=late"
            };
            let (x, width) = (left + 4, PITCH - 8);
            write!(
                page,
                "<rect{class} x={x} y={top} width={width} height={height} rx=3 />"
            )?;
            write!(
                page,
                "<text class=n x={middle} y={}>{}</text>",
                top - 6,
                Grouped(count)
            )?;
        }
        write!(
            page,
            "<text x={middle} y={}>{}</text>",
            BASE + 17,
            Label(number)
        )?;
        page.write_str("\n")?;
    }
    write!(page, "<line x1=10 y1={BASE} x2={} y2={BASE} />", WIDTH - 10)?;
    write!(
        page,
        "<text x={} y={}>latency</text>",
        WIDTH / 2,
        HEIGHT - 10
    )?;
    page.write_str(TAIL)
}

/// A value with its name.
fn tile(page: &mut impl Write, name: &str, value: fmt::Arguments<'_>) -> fmt::Result {
    write!(page, "<div><dt>{name}</dt><dd>{value}</dd></div>")
}

/// Writes the values: the temperature in millidegrees, times in microseconds and nanoseconds, the
/// begin of each bucket, and the number of latencies in it.
///
/// # Errors
///
/// If they do not fit.
pub fn json(text: &mut impl Write, state: &Values) -> fmt::Result {
    let values = &state.latencies;
    write!(
        text,
        "{{\"millidegrees\":{},\"period_us\":{},\"releases\":{}",
        state.temperature,
        state.period_ns / 1000,
        values.total()
    )?;
    write!(
        text,
        ",\"largest_ns\":{},\"late\":{}",
        values.largest_ns, values.late
    )?;
    list(text, "begin_us", (0..BUCKETS).map(begin_us))?;
    list(text, "counts", values.counts.into_iter())?;
    text.write_str("}\n")
}

fn list(text: &mut impl Write, name: &str, values: impl Iterator<Item = u64>) -> fmt::Result {
    write!(text, ",\"{name}\":")?;
    for (number, value) in values.enumerate() {
        let before = if number == 0 { '[' } else { ',' };
        write!(text, "{before}{value}")?;
    }
    text.write_str("]")
}

/// Height of a bar: sixteen times the binary logarithm, and one more, so that one is visible.
fn magnitude(count: u64) -> u64 {
    let Some(power) = count.checked_ilog2() else {
        return 0;
    };
    // The four bits behind the first.
    let fraction = (u128::from(count) << 4 >> power) as u64 & 15;
    16 * u64::from(power) + fraction + 8
}

/// A number with groups of three digits.
struct Grouped(u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(number) = *self;
        if number < 1000 {
            return write!(f, "{number}");
        }
        write!(f, "{},{:03}", Self(number / 1000), number % 1000)
    }
}

/// The begin of a bucket, with its unit.
struct Label(usize);

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, begin_us(self.0)) {
            (0, _) => write!(f, "&lt;{} µs", begin_us(1)),
            (_, begin @ 0..1024) => write!(f, "{begin} µs"),
            (_, begin) => write!(f, "{} ms", begin / 1024),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Snapshot;

    #[test]
    fn the_page_has_a_bar_for_each_bucket_in_use() {
        let mut state = Values {
            temperature: 59_876,
            period_ns: 1_000_000,
            ..Values::default()
        };
        let mut empty = String::new();
        html(&mut empty, &state).unwrap();
        assert!(!empty.contains("<rect"));
        let values = &mut state.latencies;
        values.counts[2] = 12_345;
        values.counts[3] = 7;
        values.counts[BUCKETS - 1] = 1;
        values.largest_ns = 4_321_987;
        values.late = 1;
        let mut page = String::new();
        html(&mut page, &state).unwrap();
        assert_eq!(page.matches("<rect").count(), 3);
        assert_eq!(page.matches("class=late").count(), 1);
        for text in [
            "every 1,000 µs",
            "59.8 °C</dd>",
            "12,353</dd>",
            "4,321.9 µs",
            ">12,345</text>",
            "&lt;1 µs",
            ">4 ms<",
        ] {
            assert!(page.contains(text), "{text}");
        }
    }

    #[test]
    fn the_page_fits_with_the_largest_values() {
        let state = Values {
            temperature: i32::MAX,
            period_ns: u64::MAX,
            latencies: Snapshot {
                counts: [u64::MAX / BUCKETS as u64; BUCKETS],
                largest_ns: u64::MAX,
                late: u64::MAX,
            },
        };
        let mut page = String::new();
        html(&mut page, &state).unwrap();
        assert!(page.len() <= crate::PAGE, "{}", page.len());
        let mut values = String::new();
        json(&mut values, &state).unwrap();
        assert!(values.len() <= crate::VALUES, "{}", values.len());
    }

    #[test]
    fn the_values_are_json() {
        let mut state = Values {
            temperature: 60_123,
            period_ns: 5_000_000,
            ..Values::default()
        };
        state.latencies.counts[1] = 3;
        state.latencies.largest_ns = 1500;
        let mut text = String::new();
        json(&mut text, &state).unwrap();
        let begin = "{\"millidegrees\":60123,\"period_us\":5000,\"releases\":3,\
            \"largest_ns\":1500,\"late\":0,\"begin_us\":[0,1,2,4,";
        assert!(text.starts_with(begin), "{text}");
        assert!(text.ends_with(",\"counts\":[0,3,0,0,0,0,0,0,0,0,0,0,0,0]}\n"));
    }

    #[test]
    fn a_bar_is_higher_for_a_higher_count() {
        let heights: Vec<u64> = (0..20).map(|power| magnitude(1 << power)).collect();
        assert!(heights.is_sorted_by(|low, high| low < high));
        assert_eq!((magnitude(0), magnitude(3)), (0, 32));
        assert!(magnitude(u64::MAX) > magnitude(u64::MAX / 2));
    }
}
