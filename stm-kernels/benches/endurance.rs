//! Transfers on one transactional memory until versions would have run out many times are a step of
//! `stamp soak`. Whoever calls this bench, as it was called before, is told so.

fn main() {
    println!(
        "transfers for as long as one likes are a step of `stamp soak`:\n\
         stamp soak --minutes 60 --only transfers --chunk 1G --out versions"
    );
}
