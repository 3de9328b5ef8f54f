"""What is recognised as a secret or as a person in a text, one pattern a kind. Nothing is replaced here.

A pattern marks what is to go: its group ``gone``, else all of it. Patterns run over texts of megabytes that strangers
wrote, so their repeats are bounded, and none of them can be made to look at the same text again and again.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from unicodedata import normalize

Finder = Callable[[str], Iterator[tuple[int, int]]]
"""From a text to start and end of everything that is to go."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of thing that goes: its name for people, and how it is found.

    ``needs`` are texts in small letters, of which a text holds at least one where there can be anything of this kind.
    """

    name: str
    find: Finder
    needs: tuple[str, ...]


def _kind(name: str, pattern: str, *needs: str) -> Kind:
    compiled = re.compile(pattern)
    group = "gone" if "gone" in compiled.groupindex else 0
    return Kind(name, lambda text: (found.span(group) for found in compiled.finditer(text)), needs)


def _token(name: str, pattern: str, *needs: str) -> Kind:
    return _kind(name, rf"(?<![A-Za-z0-9])(?:{pattern})", *needs)


_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY")
_KEY_TAIL = re.compile(r"[A-Za-z0-9+/=\s\\]*\Z")
_LONGEST_KEY = 16_000


def _cut_key(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ends of private keys, also of those whose beginning was cut away."""
    done = 0
    for end in _KEY_END.finditer(text):
        tail = _KEY_TAIL.search(text[max(done, end.start() - _LONGEST_KEY) : end.start()])
        if tail and tail.group().strip():
            yield end.start() - len(tail.group()), end.start()
        done = end.end()


_HOST = re.compile(r"@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}")
_MAILBOX = re.compile(r"[\w.+%-]{1,64}\Z")


def _addresses(text: str) -> Iterator[tuple[int, int]]:
    """Yield the e-mail addresses of a text, from the sign in their middle on: what is before may be long."""
    for host in _HOST.finditer(text):
        mailbox = _MAILBOX.search(text[max(0, host.start() - 64) : host.start()])
        if mailbox:
            yield host.start() - len(mailbox.group()), host.end()


SECRET_NAME = (
    r"(?:pass(?:word|wd|phrase|(?![a-z]))|secret|token|api_?-?key|access_?-?key|private_?-?key|account_?-?key"
    r"|auth_?-?key|credentials?|signature|session_?-?id|pwd(?![a-z]))[a-z0-9_]{0,20}"
)
"""The names under which passwords and keys are kept, in small letters, as the end of a longer name or all of it."""

_SECRET_NEEDS = ("pass", "secret", "token", "key", "credential", "signature", "session", "pwd")

BY_NAME = "password or key by its name"
HOME_PATH = "home path"
PERSON = "user name"
NAME = "name by rule"

KINDS: tuple[Kind, ...] = (
    _kind(
        "private key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<gone>(?:[A-Za-z0-9+/=\s\\:,.]|-(?!----))+)",
        "private key",
    ),
    Kind("private key", _cut_key, ("private key",)),
    _token("AWS key", r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{16}(?![A-Za-z0-9])", "a"),
    _token("GitHub token", r"gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}", "gh", "github_pat_"),
    _token("GitLab token", r"gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{16,255}", "gl"),
    _token("model provider key", r"sk-[A-Za-z0-9_-]{16,255}", "sk-"),
    _token("model provider key", r"(?:hf_|gsk_|r8_)[A-Za-z0-9]{20,255}", "hf_", "gsk_", "r8_"),
    _token("model provider key", r"(?:pplx|xai|nvapi)-[A-Za-z0-9_-]{20,255}", "pplx-", "xai-", "nvapi-"),
    _token("Google key", r"AIza[A-Za-z0-9_-]{30,60}|ya29\.[A-Za-z0-9_-]{20,1000}", "aiza", "ya29."),
    _token("Slack token", r"xox[a-z]{1,2}-[A-Za-z0-9-]{10,255}|xapp-[A-Za-z0-9-]{10,255}", "xox", "xapp-"),
    _token("Stripe key", r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,255}|whsec_[A-Za-z0-9]{16,255}", "k_", "whsec_"),
    _token("package registry token", r"npm_[A-Za-z0-9]{30,60}|pypi-[A-Za-z0-9_-]{30,500}", "npm_", "pypi-"),
    # Possessive: what is no token must not be gone through again from its end.
    _token("JWT", r"eyJ[A-Za-z0-9_-]{8,1000}+(?:\.[A-Za-z0-9_-]{4,8000}){1,4}", "eyj"),
    _kind(
        "bearer token",
        r"(?i:(?<![A-Za-z0-9])(?:bearer|basic)\s{1,4})(?P<gone>[A-Za-z0-9._~+/-]{16,8000}={0,2})",
        "bearer",
        "basic",
    ),
    _kind("password in an address", r"://(?P<gone>[^\s/:@\"'<>]{0,200}:[^\s/@\"'<>]{1,300})@", "://"),
    _kind(
        BY_NAME,
        rf"(?i:{SECRET_NAME})"
        # As in JSON, JSON in a string, shell, YAML, an address.
        r"(?:\\{0,3}[\"'])?\s{0,3}(?:=>|:=|[=:])\s{0,3}(?:\\{0,3}[\"'])?"
        r"(?P<gone>[^\s\"'\\,;&<>(){}\[\]]{6,1000})",
        *_SECRET_NEEDS,
    ),
    # Several, or one in a dict, as JSON has them.
    _kind(
        BY_NAME,
        rf"(?i:{SECRET_NAME})(?:\\{{0,3}}[\"'])?\s{{0,3}}(?:=>|:=|[=:])\s{{0,3}}"
        r"(?P<gone>[\[{]\s{0,8}\\{0,3}[\"'][^\]}]{1,1000})",
        *_SECRET_NEEDS,
    ),
    _kind(
        BY_NAME,
        rf"(?i:--[a-z-]{{0,20}}?{SECRET_NAME})[ =]{{1,4}}[\"']?(?P<gone>[^\s\"'\\]{{4,1000}})",
        "--",
    ),
    Kind("e-mail address", _addresses, ("@",)),
    _kind(
        HOME_PATH,
        r"(?i:(?<![A-Za-z0-9_.])(?:/home/|/Users/|/var/home/|/export/home/))(?P<gone>[^\s/\\:\"'<>|,;()\[\]{}`*?$&#=]{1,64})",
        "/home/",
        "/users/",
    ),
    _kind(
        HOME_PATH,
        r"(?i:(?<![A-Za-z0-9])[a-z]:(?:\\{1,4}|/)(?:Users|Documents and Settings)(?:\\{1,4}|/))"
        # A user's name may have a blank in it, where the path goes on behind it.
        r"(?P<gone>[^\s/\\:\"'<>|*?]{1,64}(?:[ ][^\s/\\:\"'<>|*?]{1,64}){0,3}(?=[\\/])|[^\s/\\:\"'<>|*?]{1,64})",
        ":\\users",
        ":/users",
        ":\\documents",
        ":\\\\users",
        ":\\\\documents",
    ),
)
"""Every kind, in the order in which they are asked."""

# fmt: off
COMMON_USERS = frozenset({
    "user", "users", "ubuntu", "debian", "root", "admin", "runner", "node", "app", "ec2-user", "vscode", "codespace",
    "public", "shared", "default", "guest", "home", "test", "tester", "agent", "docker", "jovyan", "build", "work",
    "data", "project", "workspace", "tmp", "linuxbrew", "username", "name", "you", "me",
})
# fmt: on
"""Users that say nothing about a person: their home path stays, and the word everywhere else."""


_CASED = "[A-Za-z\u00c0-\u058f\u10a0-\u10ff\u1e00-\u1fff]"
"""Letters of the scripts that have capitals, in which words stand apart, and accents."""


def word_pattern(words: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern that finds these words and phrases as whole words, in any case; None where there are none."""
    given = [" ".join(word.split()) for word in words if any(map(str.isalnum, word))]
    # A letter with an accent is written as one character or as two.
    wanted = {normalize(form, word) for word in given for form in ("NFC", "NFD")}
    longest_first = sorted(wanted, key=lambda word: (-len(word), word))
    return re.compile("|".join(map(_whole, longest_first)), re.IGNORECASE) if wanted else None


def _whole(word: str) -> str:
    inside = r"\s+".join(map(re.escape, word.split()))
    # A digit or underscore beside a name ends it (anna_2), and so does a letter of a script without capitals.
    before = f"(?<!{_CASED})" if word[0].lower() != word[0].upper() else ""
    after = f"(?!{_CASED})" if re.match(_CASED, word[-1]) else ""
    return f"{before}{inside}{after}"
