"""What a scorer's files do, as far as reading them shows: for the administrator who decides whether they may run.

The report helps reading; it proves nothing. Only the confinement limits what a scorer can do.
"""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

FINDINGS = 300  # most that are listed

# Modules that reach outside the process, and what for.
_MODULES = {
    **dict.fromkeys(
        ("socket", "ssl", "http", "urllib", "ftplib", "smtplib", "requests", "httpx", "aiohttp"), "network"
    ),
    **dict.fromkeys(("subprocess", "multiprocessing", "pty", "concurrent"), "processes"),
    **dict.fromkeys(("ctypes", "cffi", "mmap", "resource", "signal", "fcntl"), "the operating system"),
    **dict.fromkeys(("pickle", "cPickle", "dill", "joblib", "shelve", "marshal"), "unpickling, which runs code"),
    **dict.fromkeys(("importlib", "imp", "runpy", "code", "codeop"), "running code"),
    **dict.fromkeys(("threading", "asyncio", "_thread"), "threads"),
}
_CALLS = {
    **dict.fromkeys(("eval", "exec", "compile", "__import__", "execfile"), "running code"),
    **dict.fromkeys(("os.system", "os.popen", "os.fork", "os.kill", "os.exec", "os.spawn"), "processes"),
    **dict.fromkeys(("open", "io.open", "codecs.open", "os.open"), "opening a file"),
    **dict.fromkeys(("os.remove", "os.unlink", "os.rename", "shutil.rmtree", "os.chmod"), "changing files"),
    **dict.fromkeys(("os.environ", "os.getenv"), "variables of the process"),
    **dict.fromkeys(("yaml.load", "numpy.load", "np.load", "torch.load"), "loading objects, which can run code"),
}
_PYTHON_2 = re.compile(r"^\s*(print\s+[^(=\s]|exec\s+[\"'a-z]|except\s+\w+\s*,\s*\w+\s*:)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Finding:
    """A place in a file. `about` says what it is, `text` quotes it. `line` is 0 for a whole file."""

    file: str
    line: int
    about: str
    text: str


def report(files: Mapping[str, bytes]) -> list[Finding]:
    """Return what the files import and call, in the order of their names and lines, and what cannot be read."""
    found: list[Finding] = []
    own = {name.removesuffix(".py").split("/")[0] for name in files}
    for name, content in sorted(files.items()):
        found += sorted(_of_file(name, content, own), key=lambda finding: finding.line)
    return found[:FINDINGS]


def _of_file(name: str, content: bytes, own: set[str]) -> Iterator[Finding]:
    text = _text(content)
    if text is None:
        yield Finding(name, 0, "not text", f"{len(content):,} bytes")
        return
    if not name.endswith(".py"):
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        yield _unreadable(name, text, error)
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imports(name, node, own)
        elif isinstance(node, ast.Call | ast.Subscript | ast.Attribute):
            yield from _use(name, node)


def _text(content: bytes) -> str | None:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _unreadable(name: str, text: str, error: Exception) -> Finding:
    old = _PYTHON_2.search(text)
    if old is not None:
        line = text.count("\n", 0, old.end()) + 1
        return Finding(name, line, "Python 2, which does not run here", old[0].strip())
    line = error.lineno or 0 if isinstance(error, SyntaxError) else 0
    return Finding(name, line, "not valid Python", str(error.args[0])[:200] if error.args else type(error).__name__)


def _imports(name: str, node: ast.Import | ast.ImportFrom, own: set[str]) -> Iterator[Finding]:
    modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or "."]
    for module in modules:
        top = module.split(".")[0]
        if top in own or not top:
            continue
        is_standard = top in sys.stdlib_module_names
        about = _MODULES.get(top, "standard library" if is_standard else "package")
        yield Finding(name, node.lineno, f"import: {about}", module)


def _use(name: str, node: ast.Call | ast.Subscript | ast.Attribute) -> Iterator[Finding]:
    target = node.func if isinstance(node, ast.Call) else node
    called = _dotted(target)
    for known, about in _CALLS.items():
        is_variable = known in ("os.environ",)
        if isinstance(node, ast.Call) != is_variable and (called == known or called.startswith(f"{known}.")):
            yield Finding(name, node.lineno, about, ast.unparse(node)[:160])
            return


def _dotted(node: ast.AST) -> str:
    """Return a name such as `os.path.join`, or an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""
