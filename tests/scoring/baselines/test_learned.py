from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from scoring.answers import Matrix
from scoring.baselines.classifiers import Scheme, chance, classify, svm
from scoring.baselines.linear_svm import margins_of
from scoring.baselines.tfidf import SparseRows, tfidf
from scoring.baselines.word_vectors import averaged, read_vectors, subword_vectors

WORDS = {"NO": "river park bridge", "A": "library book page", "B": "market bread cake"}
CLASSES = tuple(WORDS)


def noisy_texts(seed: int, size: int) -> tuple[list[str], list[str]]:
    """Create texts of eight words, most of them typical of the text's class. Return the texts and their classes."""
    rng = np.random.default_rng(seed)
    every = " ".join(WORDS.values()).split()
    classes = [CLASSES[place] for place in rng.integers(3, size=size)]
    own = [WORDS[name].split() for name in classes]
    return [" ".join(rng.choice(every if rng.random() < 0.4 else words) for _ in range(8)) for words in own], classes


def one_hot(classes: list[str]) -> Matrix:
    values = np.array([[name == column for column in CLASSES] for name in classes])
    return Matrix([str(row) for row in range(len(classes))], CLASSES, values)


def test_single_labels_are_what_scikit_learn_predicts() -> None:
    texts, classes = noisy_texts(1, 120)
    others, _ = noisy_texts(2, 80)
    features, asked = tfidf(texts, others)
    ids = [f"x{row}" for row in range(80)]
    answers = classify(one_hot(classes), ids, Scheme({}, single=True), svm(features, asked))
    vectorizer = TfidfVectorizer()
    machine = LinearSVC(random_state=0).fit(vectorizer.fit_transform(texts), classes)
    assert answers.ids == ids
    assert [CLASSES[row.argmax()] for row in answers.values] == machine.predict(vectorizer.transform(others)).tolist()
    assert answers.values.sum(axis=1).tolist() == [1] * 80


def test_weights_and_margins_are_those_of_scikit_learn() -> None:
    texts, classes = noisy_texts(3, 150)
    others, _ = noisy_texts(4, 50)
    holds = np.array(classes) == "A"
    features, asked = tfidf(texts, ["", *others], longest=2)
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    machine = LinearSVC(tol=1e-10, max_iter=1_000_000).fit(vectorizer.fit_transform(texts), holds)
    expected = machine.decision_function(vectorizer.transform(["", *others]))
    assert margins_of(features, holds, asked) == pytest.approx(expected, abs=1e-6)
    assert margins_of(_dense(features), holds, _dense(asked)) == pytest.approx(expected, abs=1e-6)


def _dense(rows: SparseRows) -> NDArray[np.float64]:
    return np.stack([rows @ unit for unit in np.eye(rows.shape[1])], axis=1)


def test_chosen_rows_keep_their_order() -> None:
    features, _ = tfidf(["river park", "bread", "park park", ""], [])
    chosen = np.array([3, 2, 0, 2])
    assert (_dense(features[chosen]) == _dense(features)[chosen]).all()
    assert features[np.array([], np.int64)].shape == (0, 3)


def test_texts_without_words_cannot_be_learned_from() -> None:
    with pytest.raises(ValueError, match="no words"):
        tfidf(["a", ""], ["river"])


def test_ngrams_are_capped_at_the_most_frequent() -> None:
    texts = ["one two three four", "one two three", "five"]
    assert tfidf(texts, texts)[0].shape == (3, 5)
    assert tfidf(texts, texts, longest=3)[0].shape == (3, 5 + 3 + 2)
    assert tfidf(texts, texts, longest=3, most=6)[0].shape == (3, 6)


def test_a_class_is_sought_only_below_one_that_was_found() -> None:
    """The first feature shows whether an item is `whole`. The second shows its `part`, even if it is not `whole`."""
    rng = np.random.default_rng(3)
    known = rng.choice([-1.0, 1.0], size=(200, 2))
    whole = known[:, 0] > 0
    table = np.stack([whole, whole & (known[:, 1] > 0)], axis=1).astype(np.int64)
    answers = Matrix([str(row) for row in range(200)], ("whole", "part"), table)
    asked = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]], float)
    given = classify(answers, list("abcd"), Scheme({"whole": ["part"]}), svm(known, asked))
    assert given.values.tolist() == [[1, 1], [1, 0], [0, 0], [0, 0]]
    assert given.values.dtype == np.int64


def test_parts_are_learned_from_the_items_that_have_the_whole() -> None:
    """Among items without the whole, the feature of the part means the opposite, so these items must not be used."""
    known = np.array([[1, 1], [1, -1]] * 10 + [[-1, 1]] * 200, float)
    table = np.array([[1, 1], [1, 0]] * 10 + [[0, 0]] * 200)
    answers = Matrix([str(row) for row in range(220)], ("whole", "part"), table)
    tree = classify(answers, ["x"], Scheme({"whole": ["part"]}), svm(known, np.array([[1.0, 1.0]])))
    assert tree.values.tolist() == [[1, 1]]


def test_a_flat_answer_with_a_part_has_the_whole() -> None:
    answers = Matrix(list("abcd"), ("whole", "part"), np.array([[0, 0], [0, 1], [0, 0], [0, 1]]))
    known = np.array([[0.0], [1.0], [0.0], [1.0]])
    given = classify(answers, ["x"], Scheme({}, whole="whole", parts=["part"]), svm(known, np.array([[1.0]])))
    assert given.values.tolist() == [[1, 1]]


def test_labels_down_a_tree_whose_inner_class_is_no_column() -> None:
    known = np.array([[0, 0], [1, -1], [1, 1]] * 20, float)
    answers = one_hot(list(CLASSES) * 20)
    tree = Scheme({"YES": ["A", "B"]}, single=True)
    asked = np.array([[0, 1], [1, -1], [1, 1]], float)
    given = classify(answers, ["x", "y", "z"], tree, svm(known, asked))
    assert given.values.tolist() == [[True, False, False], [False, True, False], [False, False, True]]


def test_some_label_is_given_where_none_is_likely() -> None:
    texts, classes = noisy_texts(4, 60)
    features, asked = tfidf(texts, ["unheard"])
    given = classify(one_hot(classes), ["x"], Scheme({}, some=True), svm(features, asked))
    assert given.values.sum() >= 1
    assert classify(one_hot(classes), ["x"], Scheme({}), svm(features, asked)).values.sum() == 0


def test_a_class_that_training_never_or_always_shows_needs_no_machine() -> None:
    answers = Matrix(["1", "2"], ("never", "always"), np.array([[0, 1], [0, 1]]))
    given = classify(answers, ["x"], Scheme({}), svm(np.eye(2), np.array([[1.0, 0.0]])))
    assert given.values.tolist() == [[0, 1]]


def test_chance_copies_the_shares_of_each_decision() -> None:
    """Half of the items have the class `whole`, and a fifth of those also have `part`."""
    table = np.array([[1, 1]] + [[1, 0]] * 4 + [[0, 0]] * 5)
    answers = Matrix([str(row) for row in range(10)], ("whole", "part"), table)
    ids = [str(row) for row in range(20_000)]
    scheme = Scheme({"whole": ["part"]})
    drawn = classify(answers, ids, scheme, chance(single=False, seed=1)).values
    assert drawn.mean(axis=0) == pytest.approx([0.5, 0.1], abs=0.01)
    assert (drawn[:, 1] <= drawn[:, 0]).all()
    assert (drawn == classify(answers, ids, scheme, chance(single=False, seed=1)).values).all()


def test_chance_draws_one_class_down_a_tree() -> None:
    answers = one_hot(["NO"] * 5 + ["A"] * 4 + ["B"])
    ids = [str(row) for row in range(20_000)]
    drawn = classify(answers, ids, Scheme({"YES": ["A", "B"]}, single=True), chance(single=True, seed=2)).values
    assert drawn.sum(axis=1).tolist() == [1] * 20_000
    assert drawn.mean(axis=0) == pytest.approx([0.5, 0.4, 0.1], abs=0.01)


def test_similar_words_have_similar_subword_vectors() -> None:
    vectors = subword_vectors(["Library", "libraries bread"], seed=0)
    assert sorted(vectors) == ["bread", "libraries", "library"]
    near, far = (float(vectors["library"] @ vectors[other]) for other in ("libraries", "bread"))
    assert near > 3 * abs(far)
    assert (vectors["bread"] == subword_vectors(["bread"], seed=0)["bread"]).all()


def write_vectors(folder: Path, text: str) -> Path:
    path = folder / "some.vec"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_text_is_the_mean_of_its_words_made_one_long(tmp_path: Path) -> None:
    path = write_vectors(tmp_path, "4 2\nriver 3 4 \nPark 0 2\npark 5 0\nother x y\n")
    vectors = read_vectors(path, ["River, Park!"])
    assert sorted(vectors) == ["Park", "park", "river"]
    found = averaged(["River, Park!", "river river", "unheard", ""], vectors)
    assert found == pytest.approx(np.array([[0.3, 0.9], [0.6, 0.8], [0, 0], [0, 0]]), abs=1e-7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("river 3 4\n", "line 1"),
        ("1 2\nriver 3 x\n", "line 2: expected"),
        ("1 3\nriver 3 4\n", "line 2: expected"),
        ("1 2\npark 3 4\n", "none of the words"),
    ],
)
def test_an_invalid_file_of_vectors_is_named(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read_vectors(write_vectors(tmp_path, text), ["river"])


@pytest.mark.slow
def test_trained_vectors_are_the_same_for_the_same_seed_and_know_unseen_words() -> None:
    pytest.importorskip("gensim", reason="gensim has no wheels for this Python")
    from scoring.baselines.fasttext import train_vectors

    texts, _ = noisy_texts(5, 40)
    vectors = train_vectors(texts, ["Libraries"], seed=1)
    again = train_vectors(texts, ["Libraries"], seed=1)
    assert vectors["libraries"].shape == (100,)
    assert all((vectors[word] == again[word]).all() for word in vectors)
    with pytest.raises(ValueError, match="only once"):
        train_vectors(["once"], [], seed=1)
