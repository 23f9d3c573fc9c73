//! Measures what the library costs beside other code of a GPU, in one run:
//!
//! 1. the copy of foreign memory into cells and back, as bytes a second that are
//!    read and written, over those of a copy from device memory to device
//!    memory;
//! 2. the host's time for a launch in order: until the last call that enqueues
//!    has returned, and until the last launch has ended. A driver has room for
//!    some thousand launches and then waits, so there is a short series as well,
//!    and one of launches that the host waits for one by one;
//! 3. on a GPU, a program of `cudarc` that has a context, a stream and a slice of
//!    its own: transactions on the slice itself and on cells that were copied
//!    from it, in that stream, between the program's own copies. It is compared
//!    with what the transactions add up to on the host.
//!
//! It runs on the first GPU, else on the CPU, or where `--device` says. The times of copies are
//! those of the device, the median of seven after one that does not count. What was copied is
//! compared, and each transaction has committed. `--json` prints an object a line.
//!
//!     cargo bench -p stm-kernels --bench beside
//!     cargo bench -p stm-kernels --bench beside -- --device cpu --megabytes 64 --json

use cudarc::driver::CudaContext;
use std::time::{Duration, Instant};
use stm_core::algorithm::{Fast, FastTable};
use stm_core::host::{
    Buffer, Cpu, Cuda, Device, Error, ForeignArray, InOrder, Launch, Pod, Stm, TxArray,
};
use stm_core::{Element, Layout};
use stm_kernels::ra::{RaPlan, random_array};

/// The number of timed copies of each kind; one untimed copy comes before.
const REPEAT: usize = 7;
/// The launches of the long series, and of the short one.
const SERIES: [u64; 2] = [10_000, 128];
/// The launches that the host waits for.
const ONE_BY_ONE: u64 = 1_000;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Returns the median time of a copy, and the host's.
fn timed(mut copy: impl FnMut() -> Result<Duration, Error>) -> Result<(Duration, Duration), Error> {
    copy()?;
    let (mut device, mut host) = (Vec::new(), Vec::new());
    for _ in 0..REPEAT {
        let start = Instant::now();
        device.push(copy()?);
        host.push(start.elapsed());
    }
    Ok((median(device), median(host)))
}

/// What was copied, the bytes read and written, and the times of the device and of the host.
type Copy = (String, usize, (Duration, Duration));

fn plain<D: Device>(device: &D, bytes: usize) -> Result<Copy, Error> {
    let data: Vec<u32> = (0..bytes / 4).map(|i| i as u32 ^ 0x5A5A_5A5A).collect();
    let from = Buffer::from_slice(device, &data, "the source")?;
    let to = Buffer::<_, u32>::zeroed(device, data.len(), "the target")?;
    let times = timed(|| {
        let (to, from) = (to.as_mut_ptr().cast(), from.as_mut_ptr().cast());
        // SAFETY: two buffers of this many bytes, which nothing else accesses.
        unsafe { device.copy(to, from, data.len() * 4) }
    })?;
    assert!(to.download()? == data, "a copy lost something");
    Ok(("device to device".to_owned(), 2 * data.len() * 4, times))
}

fn cells<D: Device, T: Pod + Element>(device: &D, bytes: usize) -> Result<[Copy; 2], Error> {
    let len = bytes / size_of::<T>();
    let value = |i: u64| T::from_bits64(i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 7);
    let data: Vec<T> = (0..len as u64).map(value).collect();
    let mut buffer = Buffer::from_slice(device, &data, "the elements")?;
    let mut array = TxArray::<_, T>::zeroed(device, Layout::Cells, len, "the cells")?;
    let moved = len * size_of::<T>() + array.bytes() as usize;
    let from = ForeignArray::of_buffer(&mut buffer)?;
    let into = timed(|| array.copy_from(&from))?;
    buffer.clear()?;
    let mut to = ForeignArray::of_buffer(&mut buffer)?;
    let back = timed(|| array.copy_to(&mut to))?;
    let bits = |data: &[T]| data.iter().map(|v| v.to_bits64()).collect::<Vec<_>>();
    assert!(
        bits(&buffer.download()?) == bits(&data),
        "an element is not what it was before its way through the cells"
    );
    let named = |way: &str| format!("{} bits {way} cells", 8 * size_of::<T>());
    Ok([(named("into"), moved, into), (named("from"), moved, back)])
}

/// Makes launches of one transaction each, in order, or waits for each. Returns the host's time until
/// the last call that enqueues has returned, and the time until the last launch has ended.
fn series<D: Device>(
    stm: &mut Stm<D>,
    words: &TxArray<D, u32>,
    (launches, are_in_order): (u64, bool),
) -> Result<(Option<Duration>, Duration), Error> {
    let plan = RaPlan::new(1, 64, 2, 1);
    let shape = Launch::new(1, stm.device().limits().warp_width);
    let start = Instant::now();
    let mut enqueued = None;
    if are_in_order {
        let (time, done) = stm.in_order(|queue: &InOrder<'_, '_, D>| {
            let start = Instant::now();
            for _ in 0..launches {
                random_array::enqueue(queue, shape, words, 1, plan)?;
            }
            Ok(start.elapsed())
        })?;
        assert_eq!(done.commits, launches, "a launch is lost");
        enqueued = Some(time);
    } else {
        for _ in 0..launches {
            let done = random_array::launch(stm, shape, words, 1, plan)?;
            assert_eq!(done.commits, 1);
        }
    }
    Ok((enqueued, start.elapsed()))
}

/// Prints a line for a program or for a person.
fn say(json: bool, object: std::fmt::Arguments<'_>, line: std::fmt::Arguments<'_>) {
    println!("{}", if json { object } else { line });
}

fn print_copies(copies: &[Copy], json: bool) {
    let rate = |copy: &Copy| copy.1 as f64 / copy.2.0.as_secs_f64().max(1e-9);
    let reference = rate(&copies[0]);
    if !json {
        println!(
            "{:<32}{:>10}{:>12}{:>12}{:>10}{:>12}",
            "copy", "MB moved", "device us", "host us", "GB/s", "of a copy"
        );
    }
    for copy in copies {
        let (what, moved, (device, host)) = copy;
        let [device, host] = [device, host].map(|time| time.as_secs_f64() * 1e6);
        let (rate, ratio) = (rate(copy), rate(copy) / reference);
        say(
            json,
            format_args!(
                "{{\"copy\": \"{what}\", \"bytes_moved\": {moved}, \"device_us\": {device:.2}, \
                 \"host_us\": {host:.2}, \"bytes_per_s\": {rate:.0}, \"of_a_copy\": {ratio:.4}}}"
            ),
            format_args!(
                "{what:<32}{:>10}{device:>12.1}{host:>12.1}{:>10.1}{ratio:>11.2}x",
                *moved >> 20,
                rate / 1e9
            ),
        );
    }
}

/// Makes all series, and prints the one with the median time of those that enqueue.
fn launches<D: Device>(device: &D, json: bool) -> Result<(), Error> {
    let mut stm = Stm::on(device)?;
    let words = stm.array("words", &[0u32; 64])?;
    let mut run = |launches, in_order| series(&mut stm, &words, (launches, in_order));
    run(SERIES[1], true)?;
    let mut found = Vec::new();
    for number in SERIES {
        let tries = (0..REPEAT).map(|_| run(number, true));
        let mut tries = tries.collect::<Result<Vec<_>, _>>()?;
        tries.sort_unstable();
        found.push((number, tries[REPEAT / 2]));
    }
    found.push((ONE_BY_ONE, run(ONE_BY_ONE, false)?));
    if !json {
        println!(
            "\n{:<32}{:>10}{:>12}{:>12}",
            "launches", "number", "host us", "in all us"
        );
    }
    for (number, (enqueued, ended)) in found {
        let each = |time: Duration| time.as_secs_f64() * 1e6 / number as f64;
        let (host, ended) = (enqueued.map(each), each(ended));
        let kind = ["one by one", "in order"][usize::from(host.is_some())];
        let shown = |digits, nothing: &str| {
            host.map_or_else(|| nothing.to_owned(), |us| format!("{us:.digits$}"))
        };
        say(
            json,
            format_args!(
                "{{\"launches\": \"{kind}\", \"number\": {number}, \"enqueue_us\": {}, \
                 \"total_us\": {ended:.3}}}",
                shown(3, "null")
            ),
            format_args!("{kind:<32}{number:>10}{:>12}{ended:>12.2}", shown(2, "-")),
        );
    }
    Ok(())
}

fn all<D: Device>(device: &D, megabytes: usize, json: bool) -> Result<(), Error> {
    let (name, bytes) = (device.name(), megabytes << 20);
    say(
        json,
        format_args!("{{\"device\": \"{name}\", \"megabytes\": {megabytes}}}"),
        format_args!("{name}, {megabytes} MB of elements"),
    );
    let mut copies = vec![plain(device, bytes)?];
    copies.extend(cells::<_, u32>(device, bytes)?);
    copies.extend(cells::<_, u64>(device, bytes)?);
    print_copies(&copies, json);
    launches(device, json)
}

/// Runs transactions in the context and the stream, and on the slice, of a
/// program of `cudarc`, and returns how many committed.
fn inside_a_program(ordinal: usize) -> Result<u64, Box<dyn std::error::Error>> {
    const WORDS: u32 = 1 << 20;
    const TRANSACTIONS: u64 = 100_000;
    let plan = RaPlan::new(7, WORDS, 16, 16);
    let first: Vec<u32> = (0..WORDS).collect();

    let context = CudaContext::new(ordinal)?;
    let stream = context.new_stream()?;
    // Enqueued, and not waited for: the transactions come after it.
    let mut slice = stream.clone_htod(&first)?;
    let gpu = Cuda::beside(&context)?.on_stream(&stream)?;
    let shape = Launch::new(132, 128);

    let mut stm = Stm::on(&gpu)?;
    let words = gpu.borrow("the slice", &mut slice)?;
    let on_it =
        random_array::launch_with::<FastTable, _>(&mut stm, shape, &words, TRANSACTIONS, plan)?;
    let between = stream.clone_dtoh(&slice)?;

    let mut stm = Stm::on(&gpu)?;
    let mut words = gpu.borrow_view("a view of the slice", slice.slice_mut(..))?;
    let mut cells = stm.array("cells", &first)?;
    cells.copy_from(&words)?;
    let in_cells =
        random_array::launch_with::<Fast, _>(&mut stm, shape, &cells, TRANSACTIONS, plan)?;
    cells.copy_to(&mut words)?;
    let last = stream.clone_dtoh(&slice)?;

    let mut expected = first;
    for found in [between, last] {
        for i in 0..TRANSACTIONS {
            let transaction = plan.transaction(i);
            for k in 0..16 {
                let word = &mut expected[transaction.word(k) as usize];
                *word = word.wrapping_add(transaction.delta(k));
            }
        }
        assert!(
            found == expected,
            "the slice has other values than the host"
        );
    }
    Ok(on_it.commits + in_cells.commits)
}

fn main() {
    let (mut megabytes, mut json, mut device) = (256, false, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // Cargo adds it.
            "--bench" => {}
            "--json" => json = true,
            "--device" => device = arguments.next(),
            "--megabytes" => {
                let number = arguments.next().and_then(|n| n.parse().ok());
                megabytes = number.filter(|&n| n > 0).expect("--megabytes N");
            }
            other => panic!("no such option: {other}"),
        }
    }
    let mut ordinal = 0;
    let gpu = match device.as_deref() {
        None => Cuda::new(0)
            .inspect_err(|error| {
                eprintln!("no GPU can be used, so this runs on the CPU: {error}");
            })
            .ok(),
        Some("cpu") => None,
        Some(name) => {
            let number = name.strip_prefix("cuda").map(|n| n.trim_start_matches(':'));
            let number = number.map(|n| if n.is_empty() { "0" } else { n });
            let number = number.and_then(|n| n.parse().ok());
            ordinal = number.expect("--device cpu or cuda:N");
            Some(Cuda::new(ordinal).expect("the GPU"))
        }
    };
    let Some(gpu) = gpu else {
        return all(&Cpu::new(), megabytes, json).expect("a measurement");
    };
    all(&gpu, megabytes, json).expect("a measurement");
    let commits = inside_a_program(ordinal).expect("the program of cudarc");
    say(
        json,
        format_args!("{{\"cudarc_commits\": {commits}}}"),
        format_args!(
            "\n{commits} transactions committed in a stream and on a slice of cudarc, as on the host"
        ),
    );
}
