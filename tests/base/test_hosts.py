"""Hosts as they are granted (T61, T62, T63)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.confinement import Confinement, Reach
from hame.base.hosts import companions, covers, narrow, read_host, write_host

NO_ENTRIES = [
    "", " ", ".", "..", "-", "*", "*.", "**", "*.*", "*.com", "*example.org", "a.*.org", "*.*.org",
    "example.org.", ".example.org", "example..org", "-example.org", "example-.org", "exa_mple.org",
    "example.org:", "example.org:0", "example.org:080", "example.org:65536", "example.org:443:443",
    "example.org:https", "example.org: 443", "example.org:+443", "example.org:\uff14\uff14\uff13",
    "example.org/", "example.org/path", "https://example.org", "user@example.org", "example.org@x.org",
    "example.org#x", "example.org?x", "example.org\\x", "example%2eorg", "example.org%00.evil.test",
    "example.org\0", "example.org\0.evil.test", "example.org\n", "example.org\r\n", "\texample.org",
    "exam ple.org", "münchen.example", "\u0435xample.org", "example\u3002org", "example\uff0eorg", "\uff45xample.org",
    "exam\u212ae.org", "example.org\u200b", "\ufeffexample.org", "'example.org'", "example.org,x.org",
    "2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "127.0.0.01", "1.2.3.4.5", "256.1.1.1",
    "example.0x7f", "example.1", "*.1.2.3.4", "0.0.0.0", "224.0.0.1", "[::]", "[ff02::1]", "::1",
    "fe80::1", "[::1", "::1]", "[::1]443", "[::1]:", "[::1]:0", "[fe80::1%eth0]", "[fe80::1%25eth0]",
    "[1.2.3.4]", "[example.org]", "[]", "a" * 64 + ".org", "a." * 126 + "org", "x" * 1_000_000,
]  # fmt: skip


@pytest.mark.parametrize("text", NO_ENTRIES, ids=lambda text: ascii(text)[:40])
def test_what_could_be_read_in_two_ways_is_no_entry_and_covers_nothing(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_host(text)
    assert not covers(text, text)
    assert not covers(text, "example.org")
    assert not covers("example.org", text)
    assert not covers("*.example.org", text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("example.org", "example.org"),
        ("EXAMPLE.Org", "example.org"),
        ("example.org:443", "example.org:443"),
        ("*.Example.org:8443", "*.example.org:8443"),
        ("xn--mnchen-3ya.example", "xn--mnchen-3ya.example"),
        ("localhost:8080", "localhost:8080"),
        ("intranet", "intranet"),
        ("3com.com", "3com.com"),
        ("1.1.1.1", "1.1.1.1"),
        ("10.0.0.5:5432", "10.0.0.5:5432"),
        ("[::1]:9000", "[::1]:9000"),
        ("[2606:4700:0000::1111]", "[2606:4700::1111]"),
        ("a" * 63 + ".org", "a" * 63 + ".org"),
    ],
)
def test_an_entry_has_one_writing(text: str, shown: str) -> None:
    assert read_host(text).text == shown
    assert read_host(shown).text == shown
    assert covers(text, shown)


@pytest.mark.parametrize(
    ("pattern", "host", "expected"),
    [
        ("example.org", "example.org", True),
        ("example.org", "EXAMPLE.ORG", True),
        ("example.org", "example.org:443", True),
        ("example.org", "example.org:80", True),
        ("example.org", "example.org:8443", False),
        ("example.org", "example.org:22", False),
        ("example.org:8443", "example.org:8443", True),
        ("example.org:8443", "example.org:443", False),
        ("example.org:443", "example.org", False),
        ("example.org", "www.example.org", False),
        ("example.org", "example.org.evil.test", False),
        ("example.org", "evilexample.org", False),
        ("example.org", "example.or", False),
        ("example.org", "example-org", False),
        ("example.org", "*.example.org", False),
        ("*.example.org", "a.example.org", True),
        ("*.example.org", "a.b.example.org", True),
        ("*.example.org", "*.example.org", True),
        ("*.example.org", "*.a.example.org", True),
        ("*.a.example.org", "*.example.org", False),
        ("*.example.org", "example.org", False),
        ("*.example.org", "aexample.org", False),
        ("*.example.org", "a.example.org.evil.test", False),
        ("*.example.org", "a.example.org:8443", False),
        ("*.example.org:8443", "a.example.org:8443", True),
        ("1.1.1.1", "1.1.1.1", True),
        ("1.1.1.1", "1.1.1.10", False),
        ("[::1]:80", "[0:0:0:0:0:0:0:1]:80", True),
        ("[::ffff:10.0.0.1]", "10.0.0.1", False),
        ("localhost:80", "localhost", False),
    ],
)
def test_an_entry_covers_exactly_what_it_says(pattern: str, host: str, expected: bool) -> None:
    assert covers(pattern, host) is expected


@given(st.text(max_size=40), st.sampled_from(["example.org", "*.example.org", "10.0.0.1:80"]))
def test_whatever_is_covered_is_written_with_plain_letters(host: str, pattern: str) -> None:
    if covers(pattern, host):
        assert host.isascii()
        assert read_host(host).text == host.lower()


@pytest.mark.parametrize(
    ("name", "port", "entry"),
    [
        ("example.org", 443, "example.org"),
        ("example.org", 80, "example.org"),
        ("example.org", 8443, "example.org:8443"),
        ("10.0.0.5", 443, "10.0.0.5"),
        ("2606:4700::1", 22, "[2606:4700::1]:22"),
        ("localhost", 80, "localhost:80"),
        ("127.0.0.1", 443, "127.0.0.1:443"),
        ("::1", 8000, "[::1]:8000"),
        ("db.localhost", 80, "db.localhost:80"),
    ],
)
def test_what_is_to_be_granted_is_the_smallest_entry(name: str, port: int, entry: str) -> None:
    assert write_host(name, port) == entry
    assert covers(entry, f"[{name}]:{port}" if ":" in name else f"{name}:{port}")


def test_what_is_no_host_cannot_be_granted() -> None:
    with pytest.raises(ValueError, match="letters"):
        write_host("example.org\0", 443)
    with pytest.raises(ValueError, match="port"):
        write_host("example.org", 0)


def test_two_lists_have_in_common_what_both_cover() -> None:
    assert narrow(["a.example.org", "pypi.org"], ["*.example.org"]) == ("a.example.org",)
    assert narrow(["*.example.org"], ["a.example.org", "pypi.org"]) == ("a.example.org",)
    assert narrow(["pypi.org", "x.test"], ["pypi.org"]) == ("pypi.org",)
    assert narrow(["pypi.org"], []) == ()
    assert narrow([], ["pypi.org"]) == ()


def test_a_child_of_something_confined_talks_to_no_more_machines_than_that() -> None:
    child = Confinement(reach=Reach.WRITE, hosts=("a.example.org", "pypi.org"))
    limit = Confinement(reach=Reach.READ, hosts=("*.example.org",))
    assert child.narrowed_to(limit) == Confinement(hosts=("a.example.org",))


def test_index_and_files_of_one_source_go_together() -> None:
    assert companions("pypi.org") == ("files.pythonhosted.org",)
    assert companions("files.pythonhosted.org:443") == ("pypi.org",)
    assert "static.crates.io" in companions("INDEX.crates.io")
    assert "codeload.github.com" in companions("github.com")


def test_a_place_of_files_does_not_bring_the_host_that_takes_more_than_requests_for_files() -> None:
    assert companions("codeload.github.com") == ()
    assert companions("objects.githubusercontent.com") == ()


@pytest.mark.parametrize("host", ["*.pypi.org", "pypi.org:8443", "pypi.org.", "", "example.org"])
def test_other_hosts_have_no_companions(host: str) -> None:
    assert companions(host) == ()


@pytest.mark.parametrize("host", ["pypi.org", "github.com", "huggingface.co", "repo.packagist.org"])
def test_companions_are_entries_themselves(host: str) -> None:
    for each in companions(host):
        assert read_host(each).text == each
