//! Random numbers that host and device compute alike: a hash of the seed, the
//! transaction and a counter, so that any draw can be repeated anywhere.

/// Returns draw `k` of transaction `i` as 64 uniform bits. It is the finalizer of `SplitMix64`
/// (Steele, Lea, Flood 2014) over a Weyl sequence for each argument.
#[inline(always)]
pub const fn draw(seed: u64, i: u64, k: u32) -> u64 {
    let mut z = seed
        .wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15))
        .wrapping_add((k as u64 + 1).wrapping_mul(0xD1B5_4A32_D192_ED03));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Scrambles 32 bits in few instructions, by a bijection of two multiplications
/// (the constants are Wellons' `lowbias32`).
#[inline(always)]
pub const fn mix(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x7FEB_352D);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846C_A68B);
    x ^ (x >> 16)
}

/// Returns a number below `n` from the top 32 bits of a draw, without division
/// (Lemire 2019); the bias is less than `n / 2^32`.
#[inline(always)]
pub const fn below(draw: u64, n: u32) -> u32 {
    (((draw >> 32) * n as u64) >> 32) as u32
}

/// Counts how often each number below `N` is drawn; it panics at other numbers.
#[cfg(test)]
pub(crate) fn counts<const N: usize>(drawn: impl IntoIterator<Item = u32>) -> [u32; N] {
    let mut counts = [0; N];
    for n in drawn {
        counts[n as usize] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_below_n_stay_below_n_and_reach_every_value() {
        let seen: [u32; 7] = counts((0..7000).map(|i| below(draw(42, i, 0), 7)));
        assert!(seen.iter().all(|&n| (800..1200).contains(&n)), "{seen:?}");
        assert_eq!(below(u64::MAX, 7), 6);
        assert_eq!(below(0, 7), 0);
    }

    #[test]
    fn draws_differ_in_every_argument() {
        let mut all: [u64; 4] = [draw(1, 1, 1), draw(2, 1, 1), draw(1, 2, 1), draw(1, 1, 2)];
        all.sort_unstable();
        assert!(all.windows(2).all(|w| w[0] != w[1]));
    }
}
