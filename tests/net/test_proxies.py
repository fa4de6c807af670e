"""Which proxy is used."""

import pytest

from hame.net.proxies import choose_proxy, is_this_machine

P = "http://proxy:3128"


@pytest.mark.parametrize(
    ("url", "environment", "expected"),
    [
        ("https://a.test/", {}, None),
        ("https://a.test/", {"HTTPS_PROXY": P}, P),
        ("https://a.test/", {"https_proxy": P, "HTTPS_PROXY": "http://other"}, P),
        ("https://a.test/", {"HTTP_PROXY": P}, None),
        ("http://a.test/", {"HTTP_PROXY": P}, P),
        ("https://a.test/", {"ALL_PROXY": P}, P),
        ("https://a.test/", {"HTTPS_PROXY": "proxy:3128"}, P),
        ("https://a.test/", {"HTTPS_PROXY": P, "NO_PROXY": "*"}, None),
        ("https://a.test/", {"HTTPS_PROXY": P, "NO_PROXY": "b.test, a.test"}, None),
        ("https://x.a.test/", {"HTTPS_PROXY": P, "no_proxy": ".a.test"}, None),
        ("https://x.a.test/", {"HTTPS_PROXY": P, "no_proxy": "*.a.test"}, None),
        ("https://xa.test/", {"HTTPS_PROXY": P, "NO_PROXY": "a.test"}, P),
        ("https://a.test/", {"HTTPS_PROXY": P, "NO_PROXY": "a.test:443"}, None),
        ("https://a.test:8443/", {"HTTPS_PROXY": P, "NO_PROXY": "a.test:443"}, P),
        ("http://10.1.2.3/", {"HTTP_PROXY": P, "NO_PROXY": "10.0.0.0/8"}, None),
        ("http://11.1.2.3/", {"HTTP_PROXY": P, "NO_PROXY": "10.0.0.0/8"}, P),
        ("http://a.test/", {"HTTP_PROXY": P, "NO_PROXY": "10.0.0.0/8,,"}, P),
        ("http://[2001:db8::1]/", {"HTTP_PROXY": P, "NO_PROXY": "[2001:db8::1]"}, None),
        ("http://localhost:11434/", {"HTTP_PROXY": P}, None),
        ("http://127.0.0.1:8080/", {"ALL_PROXY": P}, None),
        ("http://[::1]:8080/", {"ALL_PROXY": P}, None),
    ],
)
def test_the_environment_chooses_a_proxy_as_usual(url, environment, expected):
    assert choose_proxy(url, None, environment) == expected


def test_the_setting_comes_before_the_environment():
    assert choose_proxy("https://a.test/", P, {"HTTPS_PROXY": "http://other"}) == P
    assert choose_proxy("https://a.test/", P, {"NO_PROXY": "a.test"}) is None
    assert choose_proxy("http://localhost/", P, {}) is None


@pytest.mark.parametrize(
    ("host", "here"),
    [
        *(("localhost", True), ("x.localhost", True), ("127.9.9.9", True), ("::1", True)),
        *(("example.com", False), ("10.0.0.1", False), ("", False)),
    ],
)
def test_this_machine_is_told_from_others(host, here):
    assert is_this_machine(host) is here
