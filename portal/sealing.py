"""Sealing (encrypting) gold with the worker's public key.

Anyone with the public key can seal gold, but only the worker can open it.

A sealed file consists of a magic number, the id of the public key, a new key in a libsodium sealed box, and the content
as a secretstream encrypted with that key. The content is padded to a power of two, because the length of gold reveals
something about its labels.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import SpooledTemporaryFile

from django.conf import settings
from nacl import bindings as sodium
from nacl.encoding import HexEncoder
from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, PublicKey, SealedBox

from portal.secret import kept_secret

_MARK = b"AGON-GOLD-1\n"
_ID = 8  # bytes of a key id
HEAD_BYTES = len(_MARK) + _ID  # size of the start of a sealed file, including the key id
_BOX = sodium.crypto_secretstream_xchacha20poly1305_KEYBYTES + sodium.crypto_box_SEALBYTES
_HEADER = sodium.crypto_secretstream_xchacha20poly1305_HEADERBYTES
_TAG_MESSAGE = sodium.crypto_secretstream_xchacha20poly1305_TAG_MESSAGE
_TAG_FINAL = sodium.crypto_secretstream_xchacha20poly1305_TAG_FINAL
_PIECE = 64 * 1024  # bytes per message before sealing
_SEALED_PIECE = _PIECE + sodium.crypto_secretstream_xchacha20poly1305_ABYTES
_TRAILER = 8 + 32  # length and SHA-256 of the content, at the end
_IN_MEMORY = 1024 * 1024


class CannotOpen(Exception):
    """This process lacks the key, or the file was changed."""


def seal(pieces: Iterable[bytes], key: PublicKey | None = None) -> Iterator[bytes]:
    """Yield the sealed file in pieces, using bounded memory. By default, the key in the settings is used."""
    sealer = Sealer(key)
    yield sealer.head
    for piece in pieces:
        yield sealer.add(piece)
    yield sealer.end()


class Sealer:
    """A stream that is sealed piece by piece. The sealed file is `head`, followed by what `add` and `end` return."""

    def __init__(self, key: PublicKey | None = None) -> None:
        key = key or public_key()
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
        """Return the end of the sealed content, padded to a power of two."""
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
        """Seal all complete pieces except the last one, which must wait for its tag."""
        sealed = bytearray()
        while len(self._rest) > _PIECE:
            sealed += self._push(bytes(self._rest[:_PIECE]), _TAG_MESSAGE)
            del self._rest[:_PIECE]
        return bytes(sealed)

    def _push(self, message: bytes, tag: int) -> bytes:
        return sodium.crypto_secretstream_xchacha20poly1305_push(self._state, message, None, tag)


class SealedFile:
    """A temporary file that is sealed as it is received, so only sealed bytes are written.

    `length` is the number of bytes received. What exceeds `limit` is not kept, because actions reject such a file.
    """

    def __init__(self, limit: int) -> None:
        self.length = self.size = 0
        self._limit = limit
        self._sealer = Sealer()
        self._file = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed by `close`
        self._file.write(self._sealer.head)

    def add(self, piece: bytes) -> None:
        self.length += len(piece)
        if self.length <= self._limit:
            self._file.write(self._sealer.add(piece))

    def end(self) -> None:
        """Complete the file. `size` is then the number of sealed bytes."""
        if self.length <= self._limit:
            self._file.write(self._sealer.end())
        self.size = self._file.tell()

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(0)
        return iter(partial(self._file.read, _PIECE), b"")

    def close(self) -> None:
        self._file.close()


def unseal(sealed: bytes, keys: Sequence[PrivateKey] | None = None) -> bytes:
    """Return the content of a sealed file. By default, the keys in the settings are used.

    Raises:
        CannotOpen: no key matches, or the file was changed or truncated.
    """
    if not sealed.startswith(_MARK):
        raise CannotOpen("this is not an encrypted gold standard")
    wanted = sealed_for(sealed)
    key = next((key for key in (private_keys() if keys is None else keys) if key_id(key.public_key) == wanted), None)
    if key is None:
        raise CannotOpen(f"this process does not have the private key {wanted.hex()}")
    try:
        return _content(_messages(sealed[len(_MARK) + _ID :], key))
    except (CryptoError, RuntimeError, ValueError):
        raise CannotOpen("the encrypted gold standard was changed or is truncated") from None


def sealed_for(sealed: bytes) -> bytes:
    """Return the id of the key that opens the file."""
    return sealed[len(_MARK) : len(_MARK) + _ID]


def has_key_for(sealed: bytes) -> bool:
    """Return whether this process has the key for a sealed file. Only the head of the file is needed."""
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
    """Create a private key, in the format that the settings use."""
    return PrivateKey.generate().encode(HexEncoder).decode()


def as_text(key: PublicKey) -> str:
    """Return a key in the format that the settings use."""
    return key.encode(HexEncoder).decode()


def public_key() -> PublicKey:
    """Return the key to seal with: either that of the newest private key, or the public key in the settings."""
    if has_private_key():
        return private_keys()[0].public_key
    return PublicKey(settings.GOLD_PUBLIC_KEY.encode(), HexEncoder)


def private_keys() -> list[PrivateKey]:
    """Return the worker's private keys, newest first. Empty in a process that has only the public key.

    If there is no key at all, as on a developer's machine, one is created and stored in a file.
    """
    texts = settings.GOLD_PRIVATE_KEYS
    if not texts and has_private_key():
        texts = kept_secret(private_key_file(), new_private_key).split()
    return [PrivateKey(text.encode(), HexEncoder) for text in texts]


def has_private_key() -> bool:
    """Return whether this process can open gold."""
    return bool(settings.GOLD_PRIVATE_KEYS) or not settings.GOLD_PUBLIC_KEY


def is_another_pair() -> bool:
    """Return whether none of the private keys belongs to the public key, with which web servers seal."""
    own = {as_text(key.public_key) for key in private_keys()}
    return bool(settings.GOLD_PUBLIC_KEY) and settings.GOLD_PUBLIC_KEY not in own


def renew_kept_key() -> None:
    """Add a new key to the key file.

    The new key is placed before the current one, which is kept for files sealed before and during the change.
    """
    keys = [new_private_key(), *(key.encode(HexEncoder).decode() for key in private_keys()[:1])]
    draft = private_key_file().with_suffix(".new")
    draft.touch(mode=0o600)
    draft.write_text("\n".join(keys))
    draft.replace(private_key_file())


def private_key_file() -> Path:
    """Return the path of the file for keys that are not in the environment."""
    return settings.STATE_ROOT / "gold-private-key"
