# What the page says and shows of transfers beside one lock.

# The rate of fast over that of the hand-written lock, with each number of accounts.
def ratios($noun): "The rate of fast over that of the hand-written lock: \(listed(distinct($rates[].accounts) as $accounts
  | [$rates | where({$accounts})]
  | first(where({what: "fast"})).tx_per_s / first(where({what: "critical-section"})).tx_per_s
  | "\(times) with \($accounts | counted)\($noun)")).";

{id: "cost",
title: "What a conflict costs",
parts: [
{id: "contention",
 name: "Transactions beside one lock",
 measured: ($rates != []),
 shows: [
  "Each transaction moves money from one account to another, both drawn at random: with few accounts nearly all transactions conflict with each other, with many nearly none. The lock is one spin lock for all accounts, written by hand; cgl runs the transactions one after the other under one lock of its own. Each is at its best launch.",
  (ratios("") | values)],
 open: [table_by("Transfers a second"; 0; $rates; {accounts}; column("Accounts"; .accounts | counted); "what"; "\(.tx_per_s | short) at \(.blocks) x \(.threads)")],
 figure: {panels: [
  {title: "Transfers between accounts", x: ["accounts, from all in conflict to nearly none", "accounts"], y: "tx_per_s", said: ratios(" accounts"),
   lines: [(
     {name: "fast: transactions", variant: "fast"},
     {name: "hand-written lock", variant: "critical-section", slot: 0},
     {name: "cgl: one lock for all transactions", variant: "cgl"})
    | .variant as $what | . + {points: [$rates | where({$what})
     | . + {tooltip: "\(.what), \(.accounts | counted) accounts, \(.blocks) x \(.threads): \(.tx_per_s | short) transfers a second"}]}]}]}}
],
footer: [
  "Rates are the medians of the launches. Each number of accounts is measured by a command of its own, which differs in --accounts alone. K, M and G of rates are powers of 1000.",
  "Made by stamp report from fast.json (format {format})."]}
