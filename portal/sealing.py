"""Sealing of gold to the worker's public key: everyone with the public key can seal, only the worker can open.

A sealed file is a mark, the id of the public key, a key of its own in a libsodium sealed box, and the content as a
secretstream. It is padded to a power of two, since the length of gold reveals something of its labels.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from django.conf import settings
from nacl import bindings as sodium
from nacl.encoding import HexEncoder
from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, PublicKey, SealedBox

from portal.secret import kept_secret

_MARK = b"AGON-GOLD-1\n"
_ID = 8  # bytes of a key's id
HEAD_BYTES = len(_MARK) + _ID  # start of a sealed file, with the key's id
_BOX = sodium.crypto_secretstream_xchacha20poly1305_KEYBYTES + sodium.crypto_box_SEALBYTES
_HEADER = sodium.crypto_secretstream_xchacha20poly1305_HEADERBYTES
_TAG_MESSAGE = sodium.crypto_secretstream_xchacha20poly1305_TAG_MESSAGE
_TAG_FINAL = sodium.crypto_secretstream_xchacha20poly1305_TAG_FINAL
_PIECE = 64 * 1024  # bytes of a message before it is sealed
_SEALED_PIECE = _PIECE + sodium.crypto_secretstream_xchacha20poly1305_ABYTES
_TRAILER = 8 + 32  # length and SHA-256 of the content, at the very end


class CannotOpen(Exception):
    """This process lacks the key, or the file was changed."""


def seal(pieces: Iterable[bytes], key: PublicKey | None = None) -> Iterator[bytes]:
    """The sealed file in pieces, in bounded memory; for the key in the settings unless one is given."""
    sealer = Sealer(key or public_key())
    yield sealer.head
    for piece in pieces:
        yield sealer.add(piece)
    yield sealer.end()


class Sealer:
    """Seals a stream: `head`, then what `add` and `end` return, is the sealed file."""

    def __init__(self, key: PublicKey) -> None:
        self._state = sodium.crypto_secretstream_xchacha20poly1305_state()
        own = sodium.crypto_secretstream_xchacha20poly1305_keygen()
        header = sodium.crypto_secretstream_xchacha20poly1305_init_push(self._state, own)
        self.head = _MARK + key_id(key) + SealedBox(key).encrypt(own) + header
        self._rest = bytearray()
        self._digest = hashlib.sha256()
        self._length = 0

    def add(self, piece: bytes) -> bytes:
        self._digest.update(piece)
        self._length += len(piece)
        self._rest += piece
        return self._push_whole()

    def end(self) -> bytes:
        """Padding to a power of two, and the end of the content."""
        trailer = self._length.to_bytes(8, "big") + self._digest.digest()
        padded = max(_PIECE, 1 << (self._length + _TRAILER - 1).bit_length())
        missing = padded - _TRAILER - self._length
        sealed = bytearray()
        while missing:
            step = min(missing, _PIECE)
            self._rest += bytes(step)
            missing -= step
            sealed += self._push_whole()
        self._rest += trailer
        return bytes(sealed) + self._push(bytes(self._rest), _TAG_FINAL)

    def _push_whole(self) -> bytes:
        """Seal all whole pieces but the last, which must wait for its tag."""
        sealed = bytearray()
        while len(self._rest) > _PIECE:
            sealed += self._push(bytes(self._rest[:_PIECE]), _TAG_MESSAGE)
            del self._rest[:_PIECE]
        return bytes(sealed)

    def _push(self, message: bytes, tag: int) -> bytes:
        return sodium.crypto_secretstream_xchacha20poly1305_push(self._state, message, None, tag)


def unseal(sealed: bytes, keys: Sequence[PrivateKey] | None = None) -> bytes:
    """The content in pieces, with the keys in the settings unless some are given.

    Raises:
        CannotOpen: none of the keys fits, or the file was changed or cut.
    """
    if not sealed.startswith(_MARK):
        raise CannotOpen("this is no sealed gold standard")
    wanted = sealed_for(sealed)
    key = next((key for key in (private_keys() if keys is None else keys) if key_id(key.public_key) == wanted), None)
    if key is None:
        raise CannotOpen(f"this process has no private key {wanted.hex()}")
    try:
        return _content(_messages(sealed[len(_MARK) + _ID :], key))
    except (CryptoError, RuntimeError, ValueError):
        raise CannotOpen("the sealed gold standard was changed or is cut off") from None


def sealed_for(sealed: bytes) -> bytes:
    """The id of the key that opens it."""
    return sealed[len(_MARK) : len(_MARK) + _ID]


def has_key_for(sealed: bytes) -> bool:
    """Whether this process has the key for the file; its head is enough to know."""
    return sealed_for(sealed) in {key_id(key.public_key) for key in private_keys()}


def _messages(body: bytes, key: PrivateKey) -> bytes:
    own = SealedBox(key).decrypt(body[:_BOX])
    state = sodium.crypto_secretstream_xchacha20poly1305_state()
    sodium.crypto_secretstream_xchacha20poly1305_init_pull(state, body[_BOX : _BOX + _HEADER], own)
    content = bytearray()
    tag = _TAG_MESSAGE
    for start in range(_BOX + _HEADER, len(body), _SEALED_PIECE):
        message, tag = sodium.crypto_secretstream_xchacha20poly1305_pull(state, body[start : start + _SEALED_PIECE])
        content += message
    if tag != _TAG_FINAL:
        raise ValueError("cut off")
    return bytes(content)


def _content(padded: bytes) -> bytes:
    length = int.from_bytes(padded[-_TRAILER:][:8], "big")
    content = padded[:length]
    if hashlib.sha256(content).digest() != padded[-_TRAILER:][8:]:
        raise ValueError("another content")
    return content


def key_id(key: PublicKey) -> bytes:
    return hashlib.blake2b(bytes(key), digest_size=_ID).digest()


def new_private_key() -> str:
    """A new private key, as in the settings."""
    return PrivateKey.generate().encode(HexEncoder).decode()


def as_text(key: PublicKey) -> str:
    """A key, as in the settings."""
    return key.encode(HexEncoder).decode()


def public_key() -> PublicKey:
    """The key to seal to: that of the newest private key, or the given public key."""
    if has_private_key():
        return private_keys()[0].public_key
    return PublicKey(settings.GOLD_PUBLIC_KEY.encode(), HexEncoder)


def private_keys() -> list[PrivateKey]:
    """The worker's private keys, newest first; none in a process that has only the public key.

    Without any key, as on a developer's machine, one is made in a file.
    """
    texts = settings.GOLD_PRIVATE_KEYS
    if not texts and has_private_key():
        texts = kept_secret(private_key_file(), new_private_key).split()
    return [PrivateKey(text.encode(), HexEncoder) for text in texts]


def has_private_key() -> bool:
    """Whether this process can open gold."""
    return bool(settings.GOLD_PRIVATE_KEYS) or not settings.GOLD_PUBLIC_KEY


def renew_kept_key() -> None:
    """Put a new key before the one in the file, which stays for files sealed before and during the change."""
    keys = [new_private_key(), *(key.encode(HexEncoder).decode() for key in private_keys()[:1])]
    draft = private_key_file().with_suffix(".new")
    draft.touch(mode=0o600)
    draft.write_text("\n".join(keys))
    draft.replace(private_key_file())


def private_key_file() -> Path:
    """The file of keys that are not in the environment."""
    return settings.STATE_ROOT / "gold-private-key"
