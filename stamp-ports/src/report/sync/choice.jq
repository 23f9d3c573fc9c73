# The choice of barrier, mutex and semaphore by ratios of memory accesses (Stuart and Owens 2011, section 4). It is judged by
# the claim S-T6, and chooses nothing of what is run. It knows no machine by name, and adds up what the accesses of an
# algorithm cost:
#
# - Mutex, and a semaphore of low count. Whoever waits either repeats an atomic (spinning) or draws a ticket by one atomic
#   and then repeats a load (sleeping). Both disturb the holder by their polls, a load by as much as it costs while atomics
#   are queued at the same line. To sleep takes at least two accesses, the ticket and a load that finds the turn, where a
#   thread that spins comes in by one. So sleeping pays if such a load costs less than half of an atomic. If it does not,
#   what counts is the number of accesses alone, and backoff is what reduces it.
# - Semaphore of high count. There is nearly always room. Then a sleeping semaphore takes one atomic to enter and one to
#   leave, and nobody waits. A spinning one takes an atomic and a store for each, and others cannot do either in between. So
#   sleeping needs fewer accesses whatever they cost.
# - Barrier. Every algorithm is a chain of accesses, and the cheapest chain at this number of blocks is chosen. A chain of
#   flags counts as one access, as there are enough threads in the leading block to look at all of them together.
#
# Of memory accesses verdicts rest on reads; the ratios of writes are printed beside them, as the times of stores measured so
# far are too short for as many accesses (docs/lab-notes/2026-11-22-locks.md). The mutex is measured with an increment inside
# and a common end, not by empty sections.

# The cost of a barrier of a grid: the sum over the accesses that follow one another.
def barrier_cost($kind): .blocks as $blocks | .groups[$kind] as $groups | .times as {$reads, $writes}
  # An access if the threads are divided among so many lines.
  | def spread($lines): max(.contended / $lines, .uncontended);
  {
    # All add to a word and all poll it, twice.
    "two-stage": (2 * ($writes.atomic.contended + $reads.after_atomic.contended)),
    # A flag is set and seen, twice, each by one thread.
    "xiao-feng": (2 * ($writes.volatile.uncontended + $reads.volatile.uncontended)),
    # The group adds, the groups add, all poll a flag that was stored.
    tree: (($writes.atomic | spread($groups) + spread($blocks / $groups)) + $writes.volatile.uncontended + $reads.volatile.contended),
    # All add, and poll.
    counted: ($writes.atomic.contended + $reads.after_atomic.contended),
    # The groups add, and they add to a word that all poll.
    grouped: (($writes.atomic | spread($groups) + spread($blocks / $groups)) + $reads.after_atomic.contended),
    # The groups add, one thread polls and stores, the group polls.
    led: (($writes.atomic | spread($groups)) + $reads.after_atomic.uncontended + $writes.volatile.uncontended + ($reads.volatile | spread($groups)))
  }[$kind] // error("\($kind) is no barrier");
# What suits a machine with the times of a grid, if they are times: the barrier across as many blocks, the mutex, the semaphore
# of a count that few threads fill, and that of a count that nearly all find room in.
def choice: when(.ratios; . as $grid | (.times.reads | .atomic.contended / .after_atomic.contended) as $atomic_to_poll
  | {barrier: one(lowest($barriers[] as $kind | {$kind, cost: ($grid | barrier_cost($kind))}; .cost).kind), high: "sleeping"}
  + if $atomic_to_poll > 2 then {mutex: "fetch-add", low: "sleeping"} else {mutex: "tas-backoff", low: "spin-backoff"} end);
