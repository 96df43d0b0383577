"""`edged completion SHELL`: a completion script made from the commands' own arguments.

bash: eval "$(edged completion bash)" in ~/.bashrc; zsh: the same with zsh in ~/.zshrc, after compinit;
fish: edged completion fish > ~/.config/fish/completions/edged.fish
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Iterator

from edged.cli import COMMANDS, command_parser

_BASH = """\
_edged() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} words=
    case $COMP_CWORD:${{COMP_WORDS[1]}}:${{COMP_WORDS[COMP_CWORD-1]}}:$word in
        1:*) words={commands} ;;
{cases}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o bashdefault -o default -F _edged edged
"""
"""Where it has no words, `-o default` lets the shell offer files."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The shell's name."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="shell to make the script for")


def run(args: argparse.Namespace) -> int:
    """Prints the script; returns 0."""
    parser = command_parser(*COMMANDS)
    commands = {name: sub._actions for name, sub in _subparsers(parser).items()}
    if args.shell == "fish":
        print("\n".join(_fish(commands)))
        return 0
    if args.shell == "zsh":
        print("autoload -U +X bashcompinit && bashcompinit")
    cases = "\n".join(f"        {line} ;;" for line in _cases(commands))
    print(_BASH.format(commands=_words([*commands, "--help", "--version"]), cases=cases), end="")
    return 0


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    # argparse has no public way to list what was added to it.
    (action,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(action.choices)


def _words(words: Iterable[object]) -> str:
    return shlex.quote(" ".join(map(str, words)))


def _cases(commands: dict[str, list[argparse.Action]]) -> Iterator[str]:
    """Of a shell's `case` over 'number:command:word before:word'; the first that fits wins."""
    for name, actions in commands.items():
        for action in actions:
            if action.choices and action.option_strings:
                places = "|".join(f"*:{name}:{option}:*" for option in action.option_strings)
                yield f"{places}) words={_words(action.choices)}"
        flags = _words(flag for action in actions for flag in action.option_strings)
        yield f"*:{name}:*:-*) words={flags}"
        for action in actions:
            if action.choices and not action.option_strings:
                yield f"2:{name}:*) words={_words(action.choices)}"


def _fish(commands: dict[str, list[argparse.Action]]) -> Iterator[str]:
    for name, actions in commands.items():
        start = "complete -c edged -n __fish_use_subcommand"
        yield f"{start} -f -a {name} -d {shlex.quote(COMMANDS[name][1])}"
        for action in actions:
            parts = [f"complete -c edged -n '__fish_seen_subcommand_from {name}'"]
            parts += [
                f"-{'l' if len(flag) > 2 else 's'} {flag.lstrip('-')}" for flag in action.option_strings
            ]
            if action.choices:
                parts.append(f"-x -a {_words(action.choices)}")
            elif action.option_strings and action.nargs != 0:
                parts.append("-r")
            if action.option_strings or action.choices:
                yield f"{' '.join(parts)} -d {shlex.quote(action.help or '')}"
