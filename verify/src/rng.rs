//! The source of chance of the simulator, of random programs and of their simulations.
//!
//! A line printed today must replay the same run after every update of the dependencies. The generator is
//! [`SplitMix64`], fixed by its definition (Steele, Lea, Flood 2014); numbers in a range are made here,
//! because `rand` may change how it makes them.

use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::SplitMix64;

/// What the kernels' hash adds for each number of a stream.
const STREAM: u64 = 0xD1B5_4A32_D192_ED03;

/// The first draw of a stream by the kernels' hash.
fn hash(seed: u64, stream: u32) -> u64 {
    // `SplitMix64` adds its own constant before it scrambles.
    let state = seed.wrapping_add((u64::from(stream) + 1).wrapping_mul(STREAM));
    SplitMix64::seed_from_u64(state.wrapping_sub(0x9E37_79B9_7F4A_7C15)).next_u64()
}

/// Draw `k` of number `i` of a seed, by the kernels' hash (`stm_kernels::draw`).
pub fn draw(seed: u64, i: u64, k: u32) -> u64 {
    hash(seed.wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15)), k)
}

/// A generator and the draws that programs and schedules are made of.
#[derive(Clone, Debug)]
pub struct Rng(SplitMix64);

impl Rng {
    /// The generator of launch number `launch` of a simulation under a seed.
    pub fn of_launch(seed: u64, launch: u64) -> Self {
        let start = seed ^ launch.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        // Neighbouring seeds start far apart.
        let first = SplitMix64::seed_from_u64(start).next_u64();
        Self(SplitMix64::seed_from_u64(first))
    }

    /// The numbers of stream `stream` of `seed`.
    pub fn of_stream(seed: u64, stream: u32) -> Self {
        // Draw `n` of the kernels' hash (`stm_kernels::draw`) is the n-th number from this start.
        let start = hash(seed, stream).wrapping_add(STREAM);
        Self(SplitMix64::seed_from_u64(start))
    }

    /// 64 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `n`, which is not 0. It is biased by less than `n` in 2^32.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        // Without division, from the upper half (Lemire 2019).
        (((self.bits() >> 32) * u64::from(n)) >> 32) as u32
    }

    /// A number from `low` to `high`, both included.
    pub fn within(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// One of `items`, which must not be empty.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u32) as usize]
    }

    /// The items in random order (Fisher and Yates).
    pub(crate) fn shuffled<T>(&mut self, items: impl Iterator<Item = T>) -> Vec<T> {
        let mut items: Vec<T> = items.collect();
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u32 + 1) as usize);
        }
        items
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_draws_bit_for_bit_the_hash_of_its_seed() {
        for seed in [0, 1, 42, 0x0123_4567_89ab_cdef, u64::MAX] {
            for stream in 0..6 {
                let device = stm_kernels::draw::draw;
                let start = device(seed, 0, stream);
                assert_eq!(draw(seed, 7, stream), device(seed, 7, stream));
                let mut rng = Rng::of_stream(seed, stream);
                for n in 1..=1000 {
                    assert_eq!(rng.bits(), device(start, n, 0));
                }
            }
        }
    }

    #[test]
    fn the_first_numbers_are_those_of_the_day_they_were_written_down() {
        let of_launches = [Rng::of_launch(1, 0), Rng::of_launch(u64::MAX, 3)];
        let first = |mut rng: Rng| [(); 3].map(|()| format!("{:x}", rng.bits())).join(" ");
        let numbers = [
            "5e41ab087439611e f18d6ce93d6cf1ee b95f66d327e8d78",
            "5a51bba48cf82e6d 747d2fa6a626da21 3c1ed11ef3977ae6",
        ];
        assert_eq!(of_launches.map(first), numbers);
        let numbers = "7cee4d00e0f3a861 9541d4aa84f38e59 dfff9a063c72c235";
        assert_eq!(first(Rng::of_stream(1, 1)), numbers);
    }
}
