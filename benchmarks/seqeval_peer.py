"""Run seqeval's entity F1 in its own environment: read a file of [gold, run] tags, print CPU seconds and value."""

import json
import sys
import time
from pathlib import Path
from statistics import median

from seqeval.metrics import f1_score

gold, run = json.loads(Path(sys.argv[1]).read_bytes())
seconds = []
for _ in range(7):
    start = time.process_time()
    value = f1_score(gold, run)
    seconds.append(time.process_time() - start)
print(json.dumps({"seconds": median(seconds), "value": float(value)}))
