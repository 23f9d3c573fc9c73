//! The workloads on the simulator and on the CPU, driven as `stamp` drives them:
//! recorded and judged, profiled, and their results checked; and what is measured beside them.

mod applications;
mod driven;
mod floors;
mod words;
