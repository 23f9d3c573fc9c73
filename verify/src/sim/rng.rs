//! The simulator's only source of chance.
//!
//! Our own generator and not a crate's: a line printed today must replay the
//! same run after every update of the dependencies.

/// `SplitMix64` (Steele, Lea, Flood 2014): one addition and two multiplications
/// a number, any seed is good.
#[derive(Clone, Debug)]
pub(super) struct Rng(u64);

impl Rng {
    /// The generator of launch number `launch` under a seed.
    pub(super) fn new(seed: u64, launch: u64) -> Self {
        let mut rng = Self(seed ^ launch.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        // Neighbouring seeds start far apart.
        rng.0 = rng.next();
        rng
    }

    /// 64 uniform bits.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0. Biased by less than `n` in 2^32.
    #[inline]
    pub(super) fn below(&mut self, n: u32) -> u32 {
        (((self.next() >> 32) * u64::from(n)) >> 32) as u32
    }
}
