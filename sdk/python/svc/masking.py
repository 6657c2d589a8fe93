"""Keeps secrets out of what is sent: the rules of the server, so that they do not even leave this host.

`test/fixtures/secrets.json` of the project holds both to the same. Every search takes time linear in the length of
the text.
"""

from __future__ import annotations

import re
from typing import Any

MASK = "***"
_CHUNK_CHARACTERS = 32 * 1024
_MAX_NAME_CHARACTERS = 200

_HINT = re.compile("token|secret|pass|pwd|key|cred|auth|cookie|bearer", re.IGNORECASE)
_SECRET_WORD = re.compile(r"secret|passw(or)?d|passphrase|credential|^(api|private|access)keys?$")
_SECRET_LAST_WORDS = {"authorization", "cookie", "cookies", "bearer"}
_KEY_OF = re.compile(
    r"(api|access|private|secret|signing|encryption|master|auth|account|storage|ssh|service|deploy|license|subscription"
    r"|wandb|openai|anthropic|aws|azure|gcp|hf)\Z"
)
_TOKENS_OF = re.compile(r"(access|api|auth|refresh|bearer|session)\Z")
_PASS_OF = re.compile(r"(db|database|user|root|admin|smtp|mail|ftp|http|proxy|redis|mysql|pg|postgres)\Z")

_FORMATS = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"svc_(?:read|write|sdk|agent)_[A-Za-z0-9]{20,}"
    r"|hf_[A-Za-z0-9]{16,}"
    r"|sk-(?!learn)[A-Za-z0-9_-]{16,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    r"|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|github_pat_[A-Za-z0-9_]{20,}"
    r"|glpat-[A-Za-z0-9_-]{16,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}"
    r"|AIza[A-Za-z0-9_-]{30,}"
    r"|ya29\.[A-Za-z0-9_-]{20,}"
    r"|nvapi-[A-Za-z0-9_-]{20,}"
    r"|npm_[A-Za-z0-9]{30,}"
    r"|pypi-[A-Za-z0-9_-]{40,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
    r")"
)
_PRIVATE_KEY = re.compile(r"(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)(?:[^-]|-(?!----)){1,16384}")
_HEAD_AND_SECRET = [
    re.compile(r"""(://[^\s/:@"'<>]{0,256}:)([^\s/"'<>]{1,256})(?=@)"""),
    re.compile(r"(://)([A-Za-z0-9_-]{16,256})(?=@)"),
    re.compile(
        r"""(authorization["'\\]{0,4}[ \t]{0,3}[:=][ \t]{0,3}["'\\]{0,4}(?:[A-Za-z]{1,20}[ \t]{1,3})?)"""
        r"""(?![A-Za-z]{0,2}["'])([^\s"',\\]{1,4096})""",
        re.IGNORECASE,
    ),
    re.compile(r"(\bbearer[ \t]{1,4})([A-Za-z0-9._~+/=-]{8,})", re.IGNORECASE),
]
_FLAG = re.compile(
    r"""(?<![\w-])(--?([A-Za-z][\w.-]{0,80})[ \t]{1,4}["']?)"""
    r"""((?<=")[^"\n]{1,4096}|(?<=')[^'\n]{1,4096}|[^\s"'=:-][^\s"']{0,4096})""",
    re.ASCII,
)
_NAME_AND_SIGN = re.compile(
    r"""(?<![\w.])(?<!\w-)([A-Za-z_][\w.-]{0,80})\\{0,3}["']?([ \t]{0,3}(?:=>|:=|=(?!=)|:)[ \t]{0,3})""", re.ASCII
)
_TYPE = re.compile(r"(?=([A-Za-z_][\w.[\]| ]{0,40}))\1=[ \t]{0,3}", re.ASCII)
_QUOTED = re.compile(r"""([A-Za-z]{0,2}(\\{0,3}["']))((?:(?!\2)(?:\\.|[^\n])){1,8192})""")
_PLAIN = re.compile(r"""[^\s"'`,;&)}\]\\]{1,4096}""")

_PLACEHOLDER = re.compile(r"(?:[A-Za-z]{1,20} )?(?:[$<{%(\[]|\*{3})")
_CALL_OR_PATH = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*[\[(]|[A-Za-z_]\w*(?:\.[A-Za-z_]+)+\Z", re.ASCII)
_NO_VALUE = re.compile(r"(?:none|null|nil|true|false|undefined|bearer|basic|digest|token)\Z", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z_]+\Z")
_TYPE_NAME = re.compile(r"(?:[A-Z]\w*|str|string|bytes|int|number|bool|boolean|any|object|unknown)\Z", re.ASCII)
_SMALL_NUMBER = re.compile(r"[0-9]{1,5}\Z")
_FLAG_ALONE = re.compile(r"--?[A-Za-z][\w.-]*\Z", re.ASCII)
_SPECIAL_TOKEN = re.compile(r"\Z|[<\[{].*[>\]}]\Z")


def mask_secrets(value: Any) -> Any:
    """A copy of JSON with ``***`` for what a key, a flag or its own form tells to be a secret, at any depth."""
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, list):
        return _mask_list(value)
    return {key: _mask_entry(key, entry) for key, entry in value.items()} if isinstance(value, dict) else value


def mask_text(text: str) -> str:
    """The text with ``***`` for what looks like a secret.

    Works through it in pieces of whole lines, so that other threads are not kept waiting for long.
    """
    if len(text) <= _CHUNK_CHARACTERS:
        return _mask_piece(text)
    return "".join(_mask_piece(piece) for piece in _pieces(text))


def _pieces(text: str) -> list[str]:
    pieces, start = [], 0
    while start < len(text):
        line_end = text.find("\n", start + _CHUNK_CHARACTERS)
        end = len(text) if line_end < 0 else line_end + 1
        pieces.append(text[start:end])
        start = end
    return pieces


def _mask_piece(text: str) -> str:
    masked = _PRIVATE_KEY.sub(rf"\1{MASK}", _FORMATS.sub(MASK, text))
    for pattern in _HEAD_AND_SECRET:
        masked = pattern.sub(_mask_second, masked)
    return _mask_assignments(_FLAG.sub(_mask_flag, masked))


def _mask_entry(key: Any, entry: Any) -> Any:
    secrecy = secrecy_of(str(key))
    if secrecy == "secret":
        return entry if entry is None or entry == "" or isinstance(entry, bool) else MASK
    if secrecy == "token":
        return [_mask_token(item) for item in entry] if isinstance(entry, list) else _mask_token(entry)
    return mask_secrets(entry)


def _mask_token(entry: Any) -> Any:
    return MASK if isinstance(entry, str) and not _SPECIAL_TOKEN.match(entry) else mask_secrets(entry)


def _mask_list(entries: list[Any]) -> list[Any]:
    """In a command line the secret may be the argument behind its flag."""
    masked = []
    for previous, entry in zip([None, *entries], entries):
        is_argument = isinstance(entry, str) and not entry.startswith("-")
        masked.append(MASK if is_argument and _is_secret_flag(previous) else mask_secrets(entry))
    return masked


def _is_secret_flag(argument: Any) -> bool:
    return isinstance(argument, str) and bool(_FLAG_ALONE.match(argument)) and secrecy_of(argument) is not None


def secrecy_of(name: str) -> str | None:
    """What a name tells of its value: ``secret`` whatever that is, ``token`` when it is text, None."""
    if not _HINT.search(name):
        return None
    words = _words(name)
    before, last = ["", "", *words][-2:]
    if any(_SECRET_WORD.search(word) for word in words) or last in _SECRET_LAST_WORDS:
        return "secret"
    if last in ("key", "keys") and _KEY_OF.match(before):
        return "secret"
    is_told = (
        last.endswith("token")
        or last == "auth"
        or (last == "tokens" and _TOKENS_OF.match(before))
        or (last == "pwd" and before not in ("", "old"))
        or (last == "pass" and _PASS_OF.match(before))
        or ("token" in words and _is_shell_name(name))
    )
    return "token" if is_told else None


def _is_shell_name(name: str) -> bool:
    return name == name.upper()


def _words(name: str) -> list[str]:
    """The words of ``hfToken_2``: hf, token."""
    spaced = re.sub("([a-z0-9])([A-Z])", r"\1 \2", name[-_MAX_NAME_CHARACTERS:])
    words = [word for word in re.split("[^a-z0-9]+", spaced.lower()) if word]
    while len(words) > 1 and words[-1].isdigit():
        words.pop()
    return words


def _mask_second(match: re.Match[str]) -> str:
    return match[0] if _PLACEHOLDER.match(match[2]) else f"{match[1]}{MASK}"


def _mask_flag(match: re.Match[str]) -> str:
    return match[0] if secrecy_of(match[2]) is None or _PLACEHOLDER.match(match[3]) else f"{match[1]}{MASK}"


def _mask_assignments(text: str) -> str:
    parts, done_to = [], 0
    for match in _NAME_AND_SIGN.finditer(text):
        secrecy = None if match.start() < done_to else secrecy_of(match[1])
        found = None if secrecy is None else _find_secret(text, match, secrecy)
        if found is not None:
            parts += [text[done_to : found[0]], MASK]
            done_to = found[1]
    return "".join(parts) + text[done_to:]


def _find_secret(text: str, match: re.Match[str], secrecy: str) -> tuple[int, int] | None:
    """From where to where the value behind a name and its sign lies, unless it is no secret."""
    name, sign = match[1], match[2]
    is_shell = sign == "=" and (_is_shell_name(name) or text[max(0, match.start() - 1)] == "-")
    type_ = _TYPE.match(text, match.end()) if ":" in sign else None
    start = type_.end() if type_ else match.end()
    quoted = _QUOTED.match(text, start)
    plain = None if quoted else _PLAIN.match(text, start)
    if quoted is None and plain is None:
        return None
    begin, end = quoted.span(3) if quoted else plain.span()  # type: ignore[union-attr]
    value = text[begin:end]
    if _PLACEHOLDER.match(value) or (plain and _is_code(value, name, secrecy, sign, is_shell)):
        return None
    return begin, end


def _is_code(value: str, name: str, secrecy: str, sign: str, is_shell: bool) -> bool:
    """Whether an unquoted value is a variable, a type, a call or a number of tokens."""
    if _NO_VALUE.match(value) or (secrecy == "token" and _SMALL_NUMBER.match(value)):
        return True
    if is_shell:
        return False
    if sign != "=" and _WORD.match(value) and (secrecy == "token" or _TYPE_NAME.match(value)):
        return True
    return bool(_CALL_OR_PATH.match(value)) or _words(value)[-1:] == _words(name)[-1:]
