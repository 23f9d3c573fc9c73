//! Counter: all threads increment counters, by transactions, under locks or neither.

use crate::workloads::prelude::*;
use stm_kernels::counter::locked::{Twice, Work};
use stm_kernels::counter::{
    Counter as CounterKernel, CounterPlan, CounterUpdates, CounterWork, STRIDE,
};
use stm_sync::{
    Anderson, Cohort, FetchAdd, Mcs, PerLane, Ring, TCombiners, TLocks, Tas, TasBackoff, Ticket,
    TicketHandoff, Ttas,
};

sizes! {
    Counter, options of "counter" {
        items: u32 = 32_768, count "Increments in all" ["32768"],
            when Occasion::Quick => 2048;
        counters: u32 = 1, count "Counters, which the increments name in turn" ["1"];
        rounds: u32 = 0, count "Times that a section lowers and raises its counter again, before it \
                          adds the counter to a sum" ["0, and no sum"];
        /// Whether, under locks, the first thread of each block makes all sections.
        first_only: bool = false, json "first_only";
        form: Form = Form::Dynamic, by |_, shared| Form::given(shared);
    } takes [is_static]
}

impl Counter {
    /// Whether each section adds its counter to a sum.
    const fn sums(&self) -> bool {
        self.rounds > 0
    }

    const fn plan(&self) -> CounterPlan {
        let (rounds, sums) = (self.rounds, self.sums() as u32);
        CounterPlan { rounds, sums }
    }

    const fn words(&self) -> usize {
        self.counters as usize * STRIDE as usize
    }

    /// Checks the words that all sections have left; the sums, if sections `exclude` each other.
    fn judge(&self, words: &[u32], exclude: bool) -> Result<()> {
        for (words, counter) in words.chunks(STRIDE as usize).zip(0..self.counters) {
            let (count, sum) = (words[0], words[1]);
            let right = u64::from(self.items / self.counters)
                + u64::from(counter < self.items % self.counters);
            let of_all = right * (right + 1) / 2 * u64::from(self.sums());
            wrong! {
                u64::from(count) != right => "counter {counter} is {count} after {right} sections";
                exclude && sum != of_all as u32 =>
                    "the sum of counter {counter} is {sum} and not {of_all}";
            }
        }
        Ok(())
    }
}

impl Sizes for Counter {
    fn facts(&self, _: u64) -> Facts {
        let rounds = match self.rounds {
            0 => String::new(),
            rounds => format!(", {} each", of(rounds.into(), "round")),
        };
        let (items, counters) = (self.items.into(), self.counters.into());
        let [increments, counters] = [of(items, "increment"), of(counters, "counter")];
        let mut parameters = self.named();
        parameters.push(("sums", self.sums().into()));
        Facts {
            summary: format!("{increments} of {counters}{rounds}"),
            form: self.form,
            capacity: sets(2, 2, 0),
            transactions: Some(items),
            shared_words: self.words() as u64,
            verifies: Covers::FinalState.that("each counter is the number of its increments"),
            ..Facts::of(parameters)
        }
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        refuse! {
            self.form.is_static() && self.sums() =>
                "--rounds {} has no static form, which is an increment alone: leave --static or \
                 --rounds out", self.rounds;
            self.items == 0 => "--items 0 leaves nothing to increment: give 1 or more";
            self.counters == 0 || self.counters > self.items =>
                "--counters {} does not suit {} increments: give from 1 to as many",
                self.counters, self.items;
        }
        Ok(())
    }
}

data! {
    pub Data of Counter: |of, device, _| {
        let bytes = 4 * (of.words() as u64 + u64::from(of.items));
        check_memory(device, "counter", bytes, bytes, "use fewer --items")?;
        let items: Vec<u32> = (0..of.items).map(|i| i % of.counters).collect();
    }
    words: TxArray<D, u32> = zeros(device, of.words() as u64, "the counters")?, accessed, cleared;
    items: Buffer<D, u32> = Buffer::from_slice(device, &items, "the items")?;
}

impl<D: Device> Data<D> {
    fn work<A: Algorithm>(&self, of: &Counter, transactions: u64) -> CounterWork<A> {
        views! { self => CounterWork { words by A, items; transactions, plan: of.plan() } }
    }
}

impl Workload for Counter {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        let locked = counters::<true, D>();
        let locks = |each: u64| ("the counters' locks", each * u64::from(self.counters));
        let (one, two) = (locks(1), locks(2));
        vec![
            locked.under::<TLocks<PerLane<Tas>>, ()>(self, "tas/lane", ONE_EACH, one),
            locked.under::<TLocks<PerLane<Ttas>>, ()>(self, "ttas/lane", ONE_EACH, one),
            locked.under::<TLocks<PerLane<Mcs>>, ()>(self, "mcs/lane", ONE_EACH, one),
            locked.under::<TLocks<Tas>, ()>(self, "tas", ONE_EACH, one),
            locked.under::<TLocks<Ttas>, ()>(self, "ttas", ONE_EACH, one),
            locked.under::<TLocks<TasBackoff>, ()>(self, "tas-backoff", ONE_EACH, one),
            locked.under::<TLocks<Ticket>, ()>(self, "ticket", ONE_EACH, one),
            locked.under::<TLocks<TicketHandoff>, ()>(self, "ticket-handoff", ONE_EACH, one),
            locked.under::<TLocks<FetchAdd>, ()>(self, "fetch-add", ONE_EACH, one),
            locked.under::<TLocks<Ring>, ()>(self, "ring", ONE_EACH, one),
            locked.under::<TLocks<Anderson>, ()>(self, "anderson", ONE_EACH, one),
            locked.under::<TLocks<Mcs>, ()>(self, "mcs", ONE_EACH, one),
            locked.under::<TLocks<Cohort<16>>, ()>(self, "cohort", ONE_EACH, one),
            locked.under::<TLocks<Tas>, Twice>(self, "spin-spin", ONE_EACH, two),
            locked.under::<TCombiners<1>, ()>(self, "combining", ONE_EACH, one),
            // Additions alone exclude nobody between the counter and the sum.
            counters::<false, _>().under::<(), ()>(self, "added", ONE_EACH, ("nothing", 0)),
        ]
    }

    fn verify<D: Device>(&self, data: &mut Data<D>, _: u64) -> Result<Observed> {
        self.judge(&data.words.download()?, true)?;
        Ok(Observed::new())
    }

    kernels! {
        of, data, run: match of.form;
        Form::Dynamic => CounterKernel<A>, run.on(data.work(of, run.transactions));
        Form::Static | Form::Wide => CounterUpdates<A>, run.on(data.work(of, run.transactions));
    }
}

/// Sections `EXCLUDE` each other, or not.
fn counters<const EXCLUDE: bool, D: Device + 'static>() -> Uses<Counter, Data<D>, Work, D> {
    Uses {
        verify: |of, data, _| of.judge(&data.words.download()?, EXCLUDE),
        note: |of, data| {
            let sum = of.sums().then(|| data.words.download()).transpose()?;
            let what = "of the counter after each section";
            Ok(sum.map(|words| format!("the sum is {}, {what}", words[1])))
        },
        ..Uses::own(|of: &Counter, data: &Data<_>, n| Work {
            work: data.work(of, n),
            first_only: of.first_only.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::test_prelude::*;

    #[test]
    fn lost_increments_and_overlapping_sections_are_seen() {
        let of = Counter {
            items: 5,
            counters: 2,
            rounds: 1,
            ..Counter::default()
        };
        let spoils: Spoils<Data<Cpu>, 2> = spoils! {
            |data| change!(data.words, |words| words[33] = 4) => "sum of counter 1";
            |data| change!(data.words, |words| words[0] = 2) => "counter 0 is 2 after 3 sections";
        };
        // Additions alone leave any sum.
        let mut added = left(&of, 1, ((1, 2), 5));
        spoils[0].0(&mut added);
        of.judge(&added.words.download().unwrap(), false).unwrap();
        spoilt(&of, 1, ((1, 2), 5), spoils);
    }
}
