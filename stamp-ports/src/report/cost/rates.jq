# The rates of transfers of a document of `bench floor`, if it has all three.

def is_number: (try (. - 0) catch null) != null;
def of($all; $field; $what): first($all | where({workload: "bank", verified: true, ($field): $what})
    | select(.parameters | .audit_percent == 0 and .zipf_thousandths == 0 and (.accounts | is_number))
    | select(.tx_per_s | is_number)) | . + {$what, accounts: .parameters.accounts};

[of($stm; "variant"; "fast"), of($runs; "kind"; "critical-section"), of($stm; "variant"; "cgl")] | if length < 3 then [] else . end
