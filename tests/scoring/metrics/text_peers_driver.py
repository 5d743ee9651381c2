"""Run sacrebleu, jiwer, rouge-score and NLTK in their environment: read a JSON list of evaluations, print the values.

An evaluation has `outputs`, and a list of `references` for each output. Values have Agon's metric keys, followed by a
space and the options. jiwer uses only one reference.
"""

import json
import sys
from itertools import zip_longest

import jiwer
from nltk.translate.meteor_score import meteor_score
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF, TER
from whisper_normalizer.basic import BasicTextNormalizer

SCORERS = {
    "bleu": BLEU(force=True),
    "bleu case=lc tokenize=char smooth=add-k": BLEU(force=True, lowercase=True, tokenize="char", smooth_method="add-k"),
    "bleu tokenize=intl smooth=floor": BLEU(force=True, tokenize="intl", smooth_method="floor"),
    "bleu tokenize=none smooth=none": BLEU(force=True, tokenize="none", smooth_method="none"),
    "chrf": CHRF(),
    "chrf case=lc": CHRF(lowercase=True),
    "chrf_pp": CHRF(word_order=2),
    "ter": TER(),
    "ter case=mixed normalized=yes punctuation=no": TER(case_sensitive=True, normalized=True, no_punct=True),
}
METEOR = {"meteor": {}, "meteor alpha=0.5 beta=1 gamma=0.8": {"alpha": 0.5, "beta": 1, "gamma": 0.8}}
ROUGE = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}


class NoSynonyms:
    def synsets(self, word):
        return []


def evaluate(given):
    outputs, references = given["outputs"], given["references"]
    streams, values = [list(stream) for stream in zip_longest(*references)], {}
    for name, scorer in SCORERS.items():
        values[name] = scorer.corpus_score(outputs, streams).score
        values[f"signature {name}"] = str(scorer.get_signature())
    for stem, ending in ((False, ""), (True, " stem=porter")):
        scorer = RougeScorer(list(ROUGE.values()), use_stemmer=stem)
        found = [scorer.score_multi(own, output) for own, output in zip(references, outputs, strict=True)]
        for name, theirs in ROUGE.items():
            values[f"{name}{ending}"] = sum(one[theirs].fmeasure for one in found) / len(found)
    words = [([text.split() for text in own], output.split()) for own, output in zip(references, outputs, strict=True)]
    for name, weights in METEOR.items():
        values[name] = sum(meteor_score(*pair, wordnet=NoSynonyms(), **weights) for pair in words) / len(words)
    if all(len(own) == 1 and own[0].strip() for own in references):
        first = [own[0] for own in references]
        values["wer"], values["cer"] = jiwer.wer(first, outputs), jiwer.cer(first, outputs)
        normalize = BasicTextNormalizer()
        first, outputs = [normalize(text) for text in first], [normalize(text) for text in outputs]
        if all(text.strip() for text in first):
            for name, rate in (("wer", jiwer.wer), ("cer", jiwer.cer)):
                values[f"{name} normalize=basic"] = rate(first, outputs)
    return values


json.dump([evaluate(given) for given in json.load(sys.stdin)], sys.stdout)
