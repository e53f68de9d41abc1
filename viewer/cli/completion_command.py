"""``ikviewer completion``: completion scripts for shells, made from the declared options of all commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from viewer.cli.file_options import CompletionOptions
from viewer.cli.job import FILES, SKELETONS, Field, Result, fields_of
from viewer.cli.main import COMMANDS, COMMON_FLAGS, HELP as HELP_COMMAND, options_of
from viewer.formats.file_formats import READ
from viewer.formats.files import data_dir

SUFFIXES = tuple(suffix[1:] for suffix in READ)
"""Suffixes of the files that hold skeletons."""

_BASH = r"""# Completion of ikviewer for bash; made by `ikviewer completion bash`.
_ikviewer() {
    local line=${COMP_LINE:0:COMP_POINT} cur words=() i command='' place=0 value='' options=''
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=('')
    cur=${words[-1]}
    for ((i = 1; i < ${#words[@]} - 1; i++)); do
        if [[ -z $command ]]; then
            case ${words[i]} in
                -q | --quiet | --debug) ;;
                @NAMES@) command=${words[i]} ;;
                -*) command=view; ((i--)) ;;
                *) command=view; place=1 ;;
            esac
        elif [[ -n $value ]]; then
            value=''
        elif [[ ${words[i]} == -?* ]]; then
            _ikviewer_value "$command" "${words[i]}"
        else
            ((place++))
        fi
    done
    COMPREPLY=()
    if [[ -z $command ]]; then
        _ikviewer_words "$cur" '@TOP@'
        [[ $cur != -* ]] && _ikviewer_files "$cur" skeletons
    elif [[ -n $value ]]; then
        _ikviewer_offer "$cur" "$value"
    elif [[ $cur == -?* ]]; then
        _ikviewer_options "$command"
        _ikviewer_words "$cur" "$options"
    else
        _ikviewer_argument "$command" "$place"
        _ikviewer_offer "$cur" "$value"
    fi
    # Bash splits words at colons.
    if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*:}"}"}")
    fi
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then
        compopt -o nospace 2> /dev/null
    fi
}

# Candidates for a value: "words|skeletons" and the like, as _ikviewer_offer takes them.
_ikviewer_value() {
    value=''
    case "$1 $2" in
@VALUES@
    esac
}

_ikviewer_argument() {
    value='|'
    case "$1 $2" in
@ARGUMENTS@
    esac
}

_ikviewer_options() {
    case $1 in
@OPTIONS@
    esac
}

_ikviewer_offer() {
    [[ -n ${2%%|*} ]] && _ikviewer_words "$1" "${2%%|*}"
    [[ -n ${2##*|} ]] && _ikviewer_files "$1" "${2##*|}"
}

_ikviewer_words() {
    local word
    for word in $2; do
        [[ $word == "$1"* ]] && COMPREPLY+=("$word")
    done
}

_ikviewer_files() {
    local file
    if [[ $2 == skeletons && -n $1 && ( sample: == "$1"* || $1 == sample:* ) ]]; then
        _ikviewer_words "$1" '@SAMPLES@'
    fi
    [[ $1 == sample:* || $1 == *[\'\"\\~\$]* ]] && return  # bash itself completes quoted words
    while IFS= read -r file; do
        if [[ -d $file ]]; then
            COMPREPLY+=("$(printf %q "$file")/")
        elif [[ $2 == files || ${file,,} =~ \.(@SUFFIXES@)$ ]]; then
            COMPREPLY+=("$(printf %q "$file")")
        fi
    done < <(compgen -f -- "$1")
}

complete -o bashdefault -o default -F _ikviewer ikviewer"""


class CommandWords(NamedTuple):
    """A command: its help, its options and its arguments, of which the last one may repeat."""

    name: str
    help: str
    options: tuple[Field, ...]
    values: tuple[Field, ...]


def run_completion(options: CompletionOptions) -> Result:
    """The script of a shell."""
    return Result([{"bash": bash, "zsh": zsh, "fish": fish}[options.shell](commands(), samples())])


def commands() -> list[CommandWords]:
    """All commands, with their options."""
    found = []
    for name, about in COMMANDS.items():
        fields = list(fields_of(options_of(name)))
        options = [field for field in fields if field.is_option]
        found.append(
            CommandWords(name, about.help, (*COMMON_FLAGS, *options), tuple(f for f in fields if not f.is_option))
        )
    return found


def samples() -> list[str]:
    """``sample:NAME`` of all bundled skeletons."""
    names = (path.name.rpartition(".") for path in data_dir("skeletons").iterdir())
    return sorted(f"sample:{stem}" for stem, _, suffix in names if suffix in SUFFIXES and not stem.endswith(".schema"))


def _label(value: Field) -> str:
    return value.metavar or value.name


def _words(value: Field) -> tuple[str, ...]:
    return value.choices or value.words


def _quoted(text: str) -> str:
    """The text in single quotes, as all three shells read it."""
    return "'" + text.replace("'", "'\\''") + "'"


def bash(every: list[CommandWords], names: list[str]) -> str:
    """The script for bash."""
    values, arguments, options = [], [], []
    for command in every:
        words = [name for option in command.options for name in option.names]
        options.append(f"        {command.name}) options={_quoted(' '.join(words))} ;;")
        for option in command.options:
            if not option.is_flag:
                cases = " | ".join(_quoted(f"{command.name} {name}") for name in option.names)
                values.append(f"        {cases}) value={_quoted(_bash_value(option))} ;;")
        for place, value in enumerate(command.values):
            last = place == len(command.values) - 1
            case = f"{command.name}\\ *" if last else _quoted(f"{command.name} {place}")
            arguments.append(f"        {case}) value={_quoted(_bash_value(value))} ;;")
    arguments.append(f"        {HELP_COMMAND}\\ *) value={_quoted(' '.join(COMMANDS) + '|')} ;;")
    options.append("        *) options='--help' ;;")
    parts = {
        "NAMES": " | ".join([*COMMANDS, HELP_COMMAND]),
        "TOP": " ".join([*COMMANDS, HELP_COMMAND, "--help", "--version", "--quiet", "--debug"]),
        "VALUES": "\n".join(values),
        "ARGUMENTS": "\n".join(arguments),
        "OPTIONS": "\n".join(options),
        "SAMPLES": " ".join(names),
        "SUFFIXES": "|".join(SUFFIXES),
    }
    return re.sub(r"@([A-Z]+)@", lambda match: parts[match[1]], _BASH)


def _bash_value(value: Field) -> str:
    return f"{' '.join(_words(value))}|{value.completes}"


def zsh(every: list[CommandWords], names: list[str]) -> str:
    """The script for zsh: a function of ``_arguments`` for each command."""
    listed = [f"        {_quoted(_colons(f'{name}') + ':' + text)}" for name, text in _named(every)]
    cases = []
    for command in every:
        specs = [f"                {_quoted(spec)}" for spec in _zsh_specs(command)]
        cases.append(f"            {command.name})\n            _arguments -S \\\n" + " \\\n".join(specs) + " ;;")
    return "\n".join([
        "#compdef ikviewer",
        "# Completion of ikviewer for zsh; made by `ikviewer completion zsh`.",
        "_ikviewer_skeletons() {",
        "    local -a samples=(" + " ".join(_quoted(name) for name in names) + ")",
        "    _alternative 'samples:sample:compadd -a samples' \\",
        f"        'files:file:_files -g \"*.({'|'.join(SUFFIXES)})(#i)(-.)\"'",
        "}",
        "_ikviewer() {",
        '    local context state line curcontext="$curcontext"',
        "    local -a commands=(",
        *listed,
        "    )",
        "    _arguments -C -S '-q[errors only]' '--quiet[errors only]' '--debug[tracebacks]' \\",
        "        '1: :->first' '*:: :->rest'",
        "    case $state in",
        "        first) _describe command commands; _ikviewer_skeletons ;;",
        "        rest) case $line[1] in",
        *cases,
        f"            {HELP_COMMAND}) _describe command commands ;;",
        "        esac ;;",
        "    esac",
        "}",
        'if [ "$funcstack[1]" = _ikviewer ]; then _ikviewer "$@"; else compdef _ikviewer ikviewer; fi',
    ])  # fmt: skip


def _zsh_specs(command: CommandWords) -> Iterator[str]:
    for option in command.options:
        for name in option.names:
            action = "" if option.is_flag else f":{_colons(_label(option))}:{_zsh_value(option)}"
            text = re.sub(r"([][:])", r"\\\1", option.plain_help())
            yield f"{name}[{text}]{action}"
    for place, value in enumerate(command.values, start=1):
        which = "*" if place == len(command.values) else str(place)
        yield f"{which}:{_colons(_label(value))}:{_zsh_value(value)}"


def _zsh_value(value: Field) -> str:
    if value.completes == SKELETONS:
        return "_ikviewer_skeletons"
    if _words(value):
        return f"({' '.join(_words(value))})"
    return "_files" if value.completes == FILES else " "


def _colons(text: str) -> str:
    return text.replace(":", "\\:")


def fish(every: list[CommandWords], names: list[str]) -> str:
    """The script for fish: a line for each command, option and list of names."""
    lines = ["# Completion of ikviewer for fish; made by `ikviewer completion fish`."]
    first = f"not __fish_seen_subcommand_from {' '.join([*COMMANDS, HELP_COMMAND])}"
    for name, text in _named(every):
        lines.append(f"complete -c ikviewer -n {_quoted(first)} -a {name} -d {_quoted(text)}")
    lines.append(f"complete -c ikviewer -n {_quoted(first)} -a {_quoted(' '.join(names))} -d sample")
    seen = f"__fish_seen_subcommand_from {HELP_COMMAND}"
    lines.append(f"complete -c ikviewer -f -n {_quoted(seen)} -a {_quoted(' '.join(COMMANDS))}")
    for command in every:
        here = f"complete -c ikviewer -n {_quoted(f'__fish_seen_subcommand_from {command.name}')}"
        for option in command.options:
            flags = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
            lines.append(" ".join([here, *flags, *_fish_value(option), f"-d {_quoted(option.plain_help())}"]))
        if any(value.completes == SKELETONS for value in command.values):
            lines.append(f"{here} -a {_quoted(' '.join(names))} -d sample")
        words = [_words(value) for value in command.values if _words(value)]
        lines += [f"{here} -f -a {_quoted(' '.join(some))}" for some in words]
    return "\n".join(lines)


def _fish_value(value: Field) -> list[str]:
    if value.is_flag:
        return []
    words = f" -a {_quoted(' '.join(_words(value)))}" if _words(value) else ""
    return [("-r -F" if value.completes else "-x") + words]


def _named(every: list[CommandWords]) -> list[tuple[str, str]]:
    return [*((command.name, command.help) for command in every), (HELP_COMMAND, "show the help of a command")]
