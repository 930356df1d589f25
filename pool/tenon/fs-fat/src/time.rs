//! Times of entries: local date and time in steps of two seconds from 1980 on (FATGEN103, date and time
//! formats).

/// Seconds of a day.
const DAY: u64 = 86_400;
/// Days from 1970 to 1980.
const DAYS_TO_1980: u64 = 3652;
/// Days of four years, the first of which is a leap year; so are all from 1980 to 2099.
const FOUR_YEARS: u64 = 1461;

/// Days of a year before each month.
fn before(month: u64, is_leap: bool) -> u64 {
    const DAYS: [u64; 13] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
    let days = DAYS.get(month as usize).copied().unwrap_or(365);
    days + u64::from(is_leap && month >= 2)
}

/// Date and time of seconds since 1970; those from 1980 to 2099 have one.
pub(crate) fn encode(seconds: u64) -> (u16, u16) {
    let days = (seconds / DAY).saturating_sub(DAYS_TO_1980);
    let days = days.min(FOUR_YEARS * 30 - 1);
    let (four, rest) = (days / FOUR_YEARS, days % FOUR_YEARS);
    let in_four = if rest < 366 { 0 } else { (rest - 1) / 365 };
    let is_leap = in_four == 0;
    let day = rest - if is_leap { 0 } else { in_four * 365 + 1 };
    let month = (0..11)
        .find(|month| day < before(month + 1, is_leap))
        .unwrap_or(11);
    let date = (four * 4 + in_four) << 9 | (month + 1) << 5 | (day - before(month, is_leap) + 1);
    let second = if seconds / DAY < DAYS_TO_1980 {
        0
    } else {
        seconds % DAY
    };
    let [hour, minute, second] = [second / 3600, second / 60 % 60, second % 60];
    let time = (hour << 11) | (minute << 5) | (second / 2);
    (date as u16, time as u16)
}

/// Seconds since 1970 of a date and time.
pub(crate) fn decode(date: u16, time: u16) -> u64 {
    let (date, time) = (u64::from(date), u64::from(time));
    let (year, month) = (date >> 9, (date >> 5 & 15).clamp(1, 12) - 1);
    let is_leap = year % 4 == 0;
    let in_four = year % 4;
    let days = year / 4 * FOUR_YEARS
        + in_four * 365
        + u64::from(!is_leap)
        + before(month, is_leap)
        + (date & 31).max(1)
        - 1;
    let seconds = (time >> 11) * 3600 + (time >> 5 & 63) * 60 + (time & 31) * 2;
    (days + DAYS_TO_1980) * DAY + seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, date, time) in [
            (315_532_800, (0, 1, 1), (0, 0, 0)),
            (951_782_400, (20, 2, 29), (0, 0, 0)),
            (951_868_799, (20, 2, 29), (23, 59, 58)),
            (978_220_800, (20, 12, 31), (0, 0, 0)),
            (978_307_200, (21, 1, 1), (0, 0, 0)),
            (1_796_040_000, (46, 11, 30), (12, 0, 0)),
        ] {
            let (year, month, day) = date;
            let (hour, minute, second) = time;
            let coded = (
                year << 9 | month << 5 | day,
                (hour << 11) | (minute << 5) | (second / 2),
            );
            assert_eq!(encode(seconds), coded, "{seconds}");
            assert_eq!(decode(coded.0, coded.1), seconds / 2 * 2);
        }
        assert_eq!(encode(5), encode(315_532_800));
    }
}
