"""Where requests may go, and what an address is bound to."""

from contextlib import suppress

import pytest

from hame.backends.address import (
    Reach,
    check_address,
    complete_address,
    origin_of,
    placed_address,
    placed_at,
    reach_of,
    split_query,
    with_query,
)
from hame.base.errors import ConfigError
from hame.llm.catalog import ShippedCatalogue


@pytest.mark.parametrize(
    ("host", "reach"),
    [
        ("127.0.0.1", Reach.HERE),
        ("127.8.8.8", Reach.HERE),
        ("::1", Reach.HERE),
        ("localhost", Reach.HERE),
        ("models.localhost", Reach.HERE),
        ("10.1.2.3", Reach.NEAR),
        ("192.168.0.9", Reach.NEAR),
        ("172.20.0.1", Reach.NEAR),
        ("100.101.102.103", Reach.NEAR),
        ("fd00::1", Reach.NEAR),
        ("169.254.1.1", Reach.NEAR),
        ("gpubox", Reach.NEAR),
        ("gpubox.local", Reach.NEAR),
        ("gpu.example.com", Reach.UNTOLD),
        ("localhost.example.com", Reach.UNTOLD),
        ("8.8.8.8", Reach.PUBLIC),
        ("172.32.0.1", Reach.PUBLIC),
        ("2001:4860::1", Reach.PUBLIC),
    ],
)
def test_how_far_away_a_host_is(host, reach):
    assert reach_of(host) is reach


@pytest.mark.parametrize(
    "url", ["https://a.test/v1", "http://127.0.0.1:1/v1", "http://gpubox:8000", "http://10.0.0.1"]
)
def test_requests_go_by_https_anywhere_and_by_http_nearby(url):
    check_address(url, "lab", allow_http=False)


@pytest.mark.parametrize(
    "url", ["http://gpu.example.com/v1", "http://8.8.8.8", "http://1.2.3.4:80"]
)
def test_requests_do_not_go_far_by_http(url):
    with pytest.raises(ConfigError) as caught:
        check_address(url, "lab", allow_http=False)
    assert "not encrypted" in caught.value.message
    assert "https" in caught.value.hint


def test_the_user_may_vouch_for_a_name_but_not_for_a_public_address():
    check_address("http://gpu.example.com/v1", "lab", allow_http=True)
    with pytest.raises(ConfigError):
        check_address("http://8.8.8.8/v1", "lab", allow_http=True)


@pytest.mark.parametrize("url", ["ftp://a.test", "https://", "a.test", "file:///etc/passwd", ""])
def test_what_is_no_address_is_said(url):
    with pytest.raises(ConfigError):
        check_address(url, "lab", allow_http=True)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://API.test:443/v1", "https://api.test"),
        ("http://a.test:80", "http://a.test"),
        ("https://a.test:8443/x?y", "https://a.test:8443"),
        ("http://[::1]:9/v1", "http://[::1]:9"),
        ("https://user:pass@a.test/v1", "https://a.test"),
    ],
)
def test_an_origin_is_scheme_host_and_port(url, origin):
    assert origin_of(url) == origin


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "https://aiplatform.googleapis.com/v1/publishers/google"),
        (
            {"GOOGLE_CLOUD_PROJECT": "p"},
            "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google",
        ),
        (
            {"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "x"},
            "https://x-aiplatform.googleapis.com/v1/projects/p/locations/x/publishers/google",
        ),
        (
            {"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "global"},
            "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google",
        ),
    ],
)
def test_vertex_is_where_project_and_location_say(environment, expected):
    vertex = ShippedCatalogue().vendor("vertex")
    assert vertex is not None
    assert placed_address(vertex, environment) == expected


NONSENSE = [
    "::::", "foo:bar", "http://[::1", "http://host:99999/v1", "not a url", "http://a b/v1",
    "https://", "http://host:-1", "http://\u0007/v1", "//", "?", "http://host:0",
]  # fmt: skip


@pytest.mark.parametrize("given", NONSENSE)
@pytest.mark.parametrize("vendor_id", ["ollama", "openai", "azure"])
def test_what_is_no_address_is_told_and_breaks_nothing(given, vendor_id):
    vendor = ShippedCatalogue().vendor(vendor_id)
    assert vendor is not None
    address, _ = split_query(given)
    completed = complete_address(address, vendor)
    origin_of(completed)
    with suppress(ConfigError):
        check_address(completed, vendor_id, allow_http=False)


@pytest.mark.parametrize("given", NONSENSE[:6])
def test_an_address_that_cannot_be_asked_is_not_asked(given):
    with pytest.raises(ConfigError, match="no address of a server"):
        check_address(given, "lab", allow_http=True)


@pytest.mark.parametrize("url", ["https://me:pw@a.test/v1", "http://me@127.0.0.1/v1"])
def test_an_address_holds_no_password_and_none_is_told(url):
    with pytest.raises(ConfigError) as caught:
        check_address(url, "lab", allow_http=False)
    assert "pw" not in caught.value.message + caught.value.hint
    assert "hame auth add lab" in caught.value.hint


def test_a_query_is_no_part_of_the_path():
    given = "https://me.azure.test/openai?api-version=2024-10-21&x=a%20b#top"
    address, query = split_query(given)
    assert address == "https://me.azure.test/openai"
    assert query == (("api-version", "2024-10-21"), ("x", "a b"))
    assert split_query(with_query(address, query)) == (address, query)
    assert with_query(address, ()) == address


@pytest.mark.parametrize(
    ("url", "host", "placed"),
    [
        ("http://127.0.0.1:11434", "172.20.0.1", "http://172.20.0.1:11434"),
        ("http://127.0.0.1:8080/v1", "10.0.0.2", "http://10.0.0.2:8080"),
        ("http://[::1]:8080/v1", "10.0.0.2", "http://10.0.0.2:8080"),
        ("http://localhost", "fd00::1", "http://[fd00::1]"),
    ],
)
def test_the_same_port_on_another_host(url, host, placed):
    assert placed_at(url, host) == placed
