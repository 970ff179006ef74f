"""What models.py found, as tables and as a file."""

import datetime
import json

import numpy as np

PEERS = {"torch": "PyTorch", "vllm": "vLLM", "onnxruntime": "onnxruntime", "onednn": "oneDNN"}  # by the names that records have


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return {"processor": names[0] if names else "", "date": datetime.date.today().isoformat()}


def slowest_first(results):
    return sorted(results, key=lambda found: min(found.get(name, np.inf) for name in PEERS))


def groups(results):
    """Results of one type and one number of threads together, in the order in which they were measured."""
    found = {}
    for result in results:
        found.setdefault((result["dtype"], result["threads"]), []).append(result)
    return found


def cell(result, peer):
    return f"{result[peer]:7.2f} {100 * result[f'{peer}_noise']:3.0f}" if peer in result else f"{'-':>7} {'':3}"


def summary(results, peer):
    """Geometric mean of the ratios, how many are below 1, and of how many; None without any."""
    ratios = np.array([result[peer] for result in results if peer in result])
    return (float(np.exp(np.log(ratios).mean())), int((ratios < 1).sum()), ratios.size) if ratios.size else None


def print_tables(record):
    for (dtype, threads), results in groups(record["results"]).items():
        peers = [peer for peer in PEERS if any(peer in result for result in results)]
        print(f"\n{dtype}, {threads} thread(s), target {record['target']}; {record['processor']}, {record['date']}; PyTorch "
              f"{record['torch']}; {record['vllm'] or 'without vLLM'}. Ratios: time of the other / ours, and their noise in percent.")
        print(f"{'call':50} {' '.join(f'{PEERS[peer][:7]:>7}  ±%' for peer in peers)} {'our ms':>9}  kernel; PyTorch's best form")
        for result in slowest_first(results):
            print(f"{result['call']:50} {' '.join(cell(result, peer) for peer in peers)} {result['ms']['gyre']:9.4f}  "
                  f"{result['kernel']}; {result['form']}")
        for peer in peers:
            mean, faster, count = summary(results, peer)
            print(f"{peer}: geometric mean {mean:.2f}, faster than ours in {faster} of {count}")


def rounded(value):
    """Numbers with four digits, so that records of several runs stay small."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    return {name: rounded(each) for name, each in value.items()} if isinstance(value, dict) else value


def write(record, path):
    """A line a call, so that two records can be compared."""
    lines = [json.dumps(rounded(result), ensure_ascii=False) for result in record["results"]]
    head = json.dumps({name: value for name, value in record.items() if name != "results"}, ensure_ascii=False)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{head[:-1]}, \"results\": [\n" + ",\n".join(lines) + "\n]}\n")


def read(paths):
    """Records of one machine, the results together."""
    records = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            records.append(json.load(file))
    return {**records[0], "results": [result for record in records for result in record["results"]]}
