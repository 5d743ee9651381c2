"""Receipts: signed once and verified anywhere.

If a byte is changed, verification fails with a sentence that explains why.
"""

import hashlib
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from scoring.__main__ import main
from scoring.receipts import RECEIPT_BYTES, KeyUnusable, new_private_key, public_key, sign, verify
from tests.conftest import ROOT

PRIVATE = new_private_key()
PUBLIC = public_key(PRIVATE)
BODY = b'[{"id": "a", "value": "YES"}]'
CONTENT = {
    "number": "0f3c",
    "team": "Meltemi – Ωmega",
    "file_name": "one_Meltemi_1.json",
    "size": len(BODY),
    "sha256": "53c6ff5a8b8a8f8d4b0f4c7f0f0d2f4a6a4e8b0f9b6a5c4d3e2f1a0b9c8d7e6f",
    "runs": [{"id": "1", "track": "one", "number": 1}],
    "received_at": "2024-05-02T12:00:00+00:00",
}


@pytest.fixture
def signed() -> dict:
    return sign(CONTENT, PRIVATE)


def as_text(receipt: dict) -> bytes:
    return json.dumps(receipt, indent=1, ensure_ascii=False).encode()


def test_a_receipt_is_believed_however_it_is_laid_out(signed):
    assert sign(CONTENT, PRIVATE) == signed  # signing again gives the same receipt
    for text in (as_text(signed), json.dumps(signed).encode(), b"\xef\xbb\xbf" + as_text(signed) + b"\r\n"):
        verdict = verify(text, PUBLIC)
        assert (verdict.ok, verdict.receipt["team"]) == (True, "Meltemi – Ωmega")


def test_every_changed_byte_fails_with_a_sentence(signed):
    text = as_text(signed)
    for place in range(len(text)):
        verdict = verify(text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :], PUBLIC)
        assert not verdict.ok, text[place : place + 20]
        assert verdict.errors[0].endswith(".")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"size": 5}, "was changed after signing"),
        ({"note": "added"}, "was changed after signing"),
        ({"signature": "00"}, "was changed after signing"),
        ({"signature": "no"}, "was changed after signing"),
        ({"signature": None}, '"signature" is missing'),
        ({"key_id": "0123456789abcdef"}, "signed with the key 0123456789abcdef"),
        ({"agon_receipt": 2}, 'does not contain "agon_receipt": 1'),
        ({"team": "\ud800"}, "was changed after signing"),
    ],
)
def test_what_failed_is_said(signed, change, words):
    (error,) = verify(json.dumps({**signed, **change}).encode(), PUBLIC).errors
    assert words in error


def test_a_signature_is_written_in_one_way(signed):
    assert not verify(as_text({**signed, "signature": signed["signature"].upper()}), PUBLIC).ok


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 50_000, b'{"a": 1, "a": 2}', b" " * (RECEIPT_BYTES + 1), b"9" * 5000]
)
def test_what_is_no_receipt_is_called_so(text):
    (error,) = verify(text, PUBLIC).errors
    assert error.startswith("The file is not a receipt")


def test_another_portals_key_does_not_fit(signed):
    (error,) = verify(as_text(signed), public_key(new_private_key())).errors
    assert "different portal signed" in error


def test_texts_that_are_not_keys(signed):
    for key in ("", "nonsense", PRIVATE):
        with pytest.raises(KeyUnusable):
            verify(as_text(signed), key)
    with pytest.raises(KeyUnusable):
        sign(CONTENT, PUBLIC)


@pytest.fixture
def files(tmp_path: Path, signed: dict) -> Path:
    """A folder with the key, a receipt and the file that it confirms."""
    run = tmp_path / "run.json"
    run.write_bytes(BODY)
    receipt = sign({**CONTENT, "sha256": hashlib.sha256(BODY).hexdigest()}, PRIVATE)
    (tmp_path / "receipt.json").write_bytes(as_text(receipt))
    (tmp_path / "key").write_text(PUBLIC)
    return tmp_path


def test_the_command_line_verifies_receipt_and_file(files, capsys):
    words = ["receipt", "verify", "--key", str(files / "key"), str(files / "receipt.json")]
    assert main(words) == 0
    assert "signature is valid" in capsys.readouterr().out
    assert main([*words, str(files / "run.json")]) == 0
    assert "The receipt matches the file." in capsys.readouterr().out
    (files / "run.json").write_bytes(BODY + b" ")
    assert main([*words, str(files / "run.json"), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert not answer["ok"]
    assert main([*words, str(files / "run.json")]) == 1
    assert "The receipt is valid, but it is for a different file." in capsys.readouterr().out
    (files / "receipt.json").write_bytes((files / "receipt.json").read_bytes().replace(b"Meltemi", b"Mistral"))
    assert main([*words, str(files / "run.json")]) == 1
    assert "The receipt is not valid" in capsys.readouterr().out
    assert "does not match this receipt" in answer["errors"][0]


def test_the_command_line_names_what_is_missing(files, capsys):
    key, receipt = str(files / "key"), str(files / "receipt.json")
    assert main(["receipt", "verify", "--key", receipt, receipt]) == 2
    assert "Expected a public key in PEM format" in capsys.readouterr().err
    assert main(["receipt", "verify", "--key", key, str(files / "none")]) == 2
    assert "none" in capsys.readouterr().err


@pytest.mark.slow
def test_without_cryptography_the_command_says_what_to_install(files):
    program = (
        "import sys; sys.modules['cryptography'] = None; sys.modules['cryptography.exceptions'] = None\n"
        "from scoring.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    words = ["receipt", "verify", "--key", "key", "receipt.json"]
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=files,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    command = done.stderr.strip().partition("with: ")[2]
    assert shlex.split(command) == [sys.executable, "-m", "pip", "install", "cryptography"]


@pytest.mark.slow
def test_check_and_score_do_not_load_it():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, scoring.__main__; print('cryptography' in sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"
