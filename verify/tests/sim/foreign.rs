//! Copies into cells and back on the simulator, which knows every access out of
//! bounds, of another width, or to a word that nobody has written.

use stm_core::Element;
use stm_core::array::Layout;
use stm_core::host::{Buffer, ForeignArray, Pod, TxArray};
use verify::sim::{Sim, SimConfig};

/// Copies elements in, and others back over them.
fn there_and_back<T: Pod + Element>(config: SimConfig, layout: Layout, len: usize) {
    let sim = Sim::new(config);
    let value = |i: usize| T::from_bits64((i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let data: Vec<T> = (0..len).map(value).collect();
    let bits = |data: &[T]| data.iter().map(|v| v.to_bits64()).collect::<Vec<_>>();
    let mut buffer = Buffer::from_slice(&sim, &data, "a buffer").unwrap();
    let mut array = TxArray::<_, T>::zeroed(&sim, layout, len, "an array").unwrap();
    let from = ForeignArray::of_buffer(&mut buffer).unwrap();
    array.copy_from(&from).unwrap();
    assert_eq!(bits(&array.download().unwrap()), bits(&data), "{config}");
    let mut other = Buffer::<_, T>::zeroed(&sim, len, "another buffer").unwrap();
    let mut to = ForeignArray::of_buffer(&mut other).unwrap();
    array.copy_to(&mut to).unwrap();
    assert_eq!(bits(&other.download().unwrap()), bits(&data), "{config}");
}

#[test]
fn copies_stay_inside_of_their_arrays_and_miss_no_element() {
    for (warp_width, wide_atomics) in [(1, false), (4, false), (4, true), (32, true)] {
        let config = SimConfig::default().with_width(warp_width);
        let config = config.with_wide_atomics(wide_atomics);
        for layout in [Layout::Plain, Layout::Cells] {
            // Around a batch of all lanes, and more than one.
            let lanes = 8 * warp_width as usize;
            for len in [
                1,
                2,
                lanes,
                4 * lanes - 1,
                4 * lanes,
                4 * lanes + 1,
                9 * lanes,
            ] {
                there_and_back::<i32>(config, layout, len);
                there_and_back::<f64>(config, layout, len);
            }
        }
    }
}
