"""seqeval's entity F1 in its own environment: reads a file of [gold, run] tags and prints seconds and value as JSON."""

import json
import sys
import time
from pathlib import Path
from statistics import median

from seqeval.metrics import f1_score

gold, run = json.loads(Path(sys.argv[1]).read_bytes())
seconds = []
for _ in range(7):
    start = time.perf_counter()
    value = f1_score(gold, run)
    seconds.append(time.perf_counter() - start)
print(json.dumps({"seconds": median(seconds), "value": float(value)}))
