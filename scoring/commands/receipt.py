"""`receipt verify`: check that the portal signed a receipt, and that the receipt belongs to a file."""

import argparse
from pathlib import Path

from scoring.commands import INVALID, VALID, UsageError, print_json, read_text
from scoring.commands.parser import Parser
from scoring.extras import install_command


def add_options(parser: Parser) -> None:
    """Add the command's options, which do not include a task folder."""
    actions = parser.add_actions()
    verifier = actions.add_parser("verify", help="check the portal's signature")
    verifier.add_argument(
        "--key",
        type=Path,
        required=True,
        metavar="PUBLIC",
        help="file with the portal's public key, saved from /.well-known/agon-receipt-key",
    )
    verifier.add_argument("--json", action="store_true", help="print the output as a JSON object")
    verifier.add_argument("receipt", type=Path, metavar="RECEIPT.json", help="receipt file from the portal")
    verifier.add_argument(
        "file", type=Path, nargs="?", metavar="FILE", help="uploaded file to compare with the receipt by SHA-256"
    )
    verifier.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """Print the receipt's content, or the reasons why it is not valid."""
    try:
        from scoring.receipts import KeyUnusable, verify  # noqa: PLC0415 (an extra)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"Verifying receipts requires an additional package. Install it with: {install_command(error)}"
        ) from None
    try:
        verdict = verify(options.receipt.read_bytes(), read_text(options.key), options.file)
    except KeyUnusable as error:
        raise UsageError(f"{options.key}: {error}") from None
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}.") from None
    if options.json:
        print_json({"ok": verdict.ok, "errors": verdict.errors, "receipt": dict(verdict.receipt)})
    elif verdict.ok:
        values = {name: verdict.receipt.get(name) for name in ("number", "team", "file_name", "sha256", "received_at")}
        print("The receipt's signature is valid.", *(f"{name}: {value}" for name, value in values.items()), sep="\n")
        print(
            "The receipt matches the file." if options.file else "To check that it matches your upload, add the file."
        )
    elif verdict.is_signed:
        print("The receipt is valid, but it is for a different file.", *verdict.errors, sep="\n")
    else:
        print("The receipt is not valid.", *verdict.errors, sep="\n")
    return VALID if verdict.ok else INVALID
