use verify::{mutants, program::{directed::Directed, run}};
use stm_core::mutant::Mutant;
use stm_kernels::draw::draw;
fn main() {
    for m in ["extension-without-locks","no-e2-extension","no-s2-settle","no-second-look","snapshot-raised-unchecked"] {
        let m = Mutant::from_name(m).unwrap();
        let v = mutants::target(m).0;
        for d in ["swap-three-times","swaps-f","swaps-g","swaps-h","swaps-i","swaps-j","swaps-k"] {
            let d = Directed::named(d).unwrap();
            let t = std::time::Instant::now();
            let mut kills = std::collections::BTreeMap::<String,u32>::new(); let n = 20000; let mut total=0;
            let mut un=0;
            for k in 0..n {
                let c = d.case(v, Some(m), draw(k, 77, 7));
                match run(&c) { Err(f) => { total+=1; let s=format!("{}",c.sim.schedule); let s=s.trim_end_matches(|x:char|x.is_ascii_digit()||x=='x').to_string(); *kills.entry(format!("{s} {} {:?}", f.kind.name(), c.program.calls)).or_default() += 1;}, Ok(d)=>{ if d.unfair {un+=1;} } }
            }
            println!("{} {} {total}/{n} unfair {un} {:?} {:?}", m.name(), d.name, t.elapsed(), kills);
        }
    }
}
