#!/bin/sh
# Verifies and times the candidates of this folder on this device, each in a process of its own with bounds on its time and memory.
# Started again after an interruption, it goes on where it was. Written by `gyre tune export`.
cd "$(dirname "$0")" || exit 1
mkdir -p results

runner() {
    ./gyre_tune_runner --kernel @KERNEL@ --threads @THREADS@ --limit-memory @LIMIT_MEMORY@ "$@"
}

# What a candidate said, and in its last line how it ended, is whole or not there.
for library in \
    @CANDIDATES@; do
    result=results/$library.json
    [ -f "$result" ] && continue
    runner --library reference=libraries/@STORED@ --library candidate="libraries/$library" --verify candidate \
        --seconds @SECONDS@ --hopeless @HOPELESS@ --cut @WORSE@ --limit-seconds @LIMIT_SECONDS@ @SHAPES@ --ratio-to "$result.ratio" \
        >"$result.part" 2>&1
    echo "{\"event\": \"ended\", \"code\": $?}" >>"$result.part"
    mv "$result.part" "$result"
    echo "$library: $(cat "$result.ratio" 2>/dev/null || echo failed)"
done

# The final session: the stored knobs twice, the defaults, and the candidates that took the least time.
set --
[ -n "@DEFAULT@" ] && set -- --library default=libraries/@DEFAULT@
near='NR == 1 { best = $1 } $1 <= @NEAR@ * best && NR <= @FINALISTS@ { print $2 }'
for library in $(cat results/*.ratio 2>/dev/null | sort -n | awk "$near"); do
    runner --library finalist="$library" --verify finalist --thorough --limit-seconds 600 >/dev/null 2>&1 || continue
    set -- "$@" --library "$(basename "$library" .so)=$library"
done
runner --library stored=libraries/@STORED@ --library again=libraries/@AGAIN@ "$@" --seconds @FINAL_SECONDS@ --fewest-rounds 30 \
    --most-rounds 5000 --peak @SHAPES@ >results/final.part 2>&1 || { cat results/final.part; exit 1; }
mv results/final.part results/final.json
uname -srm >results/machine
sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1 >>results/machine
echo "done: copy $(pwd)/results back"
