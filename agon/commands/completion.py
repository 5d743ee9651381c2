"""`completion`: print a script that lets a shell complete commands and options."""

import argparse

from argcomplete.shell_integration import shellcode

SHELLS = ("bash", "zsh", "fish")
_WHERE = """to use it, add a line to your shell's startup file:

  bash  ~/.bashrc                    source <(agon completion bash)
  zsh   ~/.zshrc, after compinit     source <(agon completion zsh)
  fish  ~/.config/fish/config.fish   agon completion fish | source
"""


def add_options(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _WHERE
    parser.add_argument("shell", choices=SHELLS)
    parser.set_defaults(task=None, json=None, lang="en", command=run)


def run(options: argparse.Namespace) -> int:
    print(shellcode(["agon"], shell=options.shell))
    return 0
