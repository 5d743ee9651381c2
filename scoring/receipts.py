"""Upload receipts, signed by the portal with Ed25519 (RFC 8032). Anyone can verify them with the portal's public key.

The signature covers the canonical JSON of the receipt without its `signature`: UTF-8, keys sorted, no spaces. Only this
module needs `cryptography` (the `receipts` extra).
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

FORMAT = 1  # version of the receipt format, stored under `agon_receipt`
RECEIPT_BYTES = 64 * 1024


class KeyUnusable(Exception):
    """The text is not an Ed25519 key in PEM format."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The receipt's content (empty if it cannot be read) and the errors as sentences.

    `is_signed` means that the receipt has not changed since the portal signed it. In that case, any errors are about
    the file.
    """

    receipt: Mapping[str, Any]
    errors: list[str]
    is_signed: bool = False

    @property
    def ok(self) -> bool:
        return not self.errors


def new_private_key() -> str:
    """Generate a private key in PEM format (PKCS 8)."""
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def public_key(private_key: str) -> str:
    """Return the public half of a private key, both in PEM format."""
    return _private(private_key).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def key_id(private_key: str) -> str:
    """Return the id of a private key in PEM format, as in the receipts that it signs."""
    return _key_id(_private(private_key).public_key())


def sign(content: Mapping[str, Any], private_key: str) -> dict[str, Any]:
    """Sign the content and return it with `agon_receipt`, `key_id` and `signature` (hexadecimal) added."""
    key = _private(private_key)
    receipt = {"agon_receipt": FORMAT, **content, "key_id": _key_id(key.public_key())}
    return {**receipt, "signature": key.sign(_canonical(receipt)).hex()}


def verify(text: bytes, key: str, file: Path | None = None) -> Verdict:
    """Verify a receipt with the portal's public key (PEM).

    If a file is given, also verify that the receipt is for that file.

    Raises:
        KeyUnusable: the text is not a valid public key.
        OSError: the file cannot be read.
    """
    public = _public(key)
    try:
        receipt = _read(text)
    except (ValueError, RecursionError) as error:
        return Verdict({}, [f"The file is not a receipt: {error}."])
    errors = _signature_errors(receipt, public)
    is_signed = not errors
    if file is not None:
        errors += _file_errors(receipt, file)
    return Verdict(receipt, errors, is_signed)


def _read(text: bytes) -> dict[str, Any]:
    """Parse the receipt as an object.

    Raises:
        ValueError: the text is not a receipt. The message explains why.
    """
    if len(text) > RECEIPT_BYTES:
        raise ValueError(f"it is larger than {RECEIPT_BYTES:,} bytes")
    try:
        receipt = json.loads(text.decode("utf-8-sig"), object_pairs_hook=_once)
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON ({error.msg} on line {error.lineno})") from None
    if not isinstance(receipt, dict) or receipt.get("agon_receipt") != FORMAT:
        raise ValueError(f'it does not contain "agon_receipt": {FORMAT}')
    for key in ("key_id", "signature"):
        if not isinstance(receipt.get(key), str):
            raise ValueError(f'"{key}" is missing')
    return receipt


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _value in pairs]
    if len(set(names)) < len(names):
        raise ValueError("it contains the same key twice")
    return dict(pairs)


def _signature_errors(receipt: Mapping[str, Any], public: Ed25519PublicKey) -> list[str]:
    given, own = receipt["key_id"], _key_id(public)
    if given != own:
        return [
            f"The receipt was signed with the key {given}, but the key you provided is {own}. Either a different "
            "portal signed the receipt, or its key id was changed."
        ]
    content = {name: value for name, value in receipt.items() if name != "signature"}
    try:
        signature = bytes.fromhex(receipt["signature"])
        if signature.hex() != receipt["signature"]:
            raise ValueError
        public.verify(signature, _canonical(content))
    except (InvalidSignature, ValueError):
        return ["The signature is not valid: the receipt or its signature was changed after signing."]
    return []


def _file_errors(receipt: Mapping[str, Any], path: Path) -> list[str]:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if sha256 == receipt.get("sha256"):
        return []
    return [f"{path.name} does not match this receipt: its SHA-256 is {sha256}, not {receipt.get('sha256')}."]


def _canonical(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _key_id(public: Ed25519PublicKey) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of the key's 32 bytes."""
    return hashlib.sha256(public.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:16]


def _private(text: str) -> Ed25519PrivateKey:
    try:
        key = load_pem_private_key(text.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyUnusable("Expected a private key in PEM format without a password.") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyUnusable("Expected an Ed25519 key.")
    return key


def _public(text: str) -> Ed25519PublicKey:
    try:
        key = load_pem_public_key(text.encode())
    except (ValueError, UnsupportedAlgorithm):
        raise KeyUnusable("Expected a public key in PEM format.") from None
    if not isinstance(key, Ed25519PublicKey):
        raise KeyUnusable("Expected an Ed25519 key.")
    return key
