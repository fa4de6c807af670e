"""Every recorded response reads as expected: whole, one byte at a time, and cut at random."""

import pytest

from hame.base.model import ModelFacts
from hame.llm.codecs import codec
from hame.llm.meaning import read_meaning

WAYS = {
    "whole": lambda case: None,
    "bytewise": lambda case: case.bytewise(),
    "cut": lambda case: case.pieces(1),
    "cut again": lambda case: case.pieces(2),
}


def read(case, wire: str, way: str) -> dict:
    facts = ModelFacts(backend=case.provider, model="recorded", wire=wire, vendor=case.provider)
    return read_meaning(
        codec(wire),
        facts,
        status=case.status,
        headers=case.headers,
        body=case.body,
        chunks=WAYS[way](case),
    )


@pytest.mark.parametrize("way", WAYS)
def test_every_recorded_response_reads_as_expected(way, api, wire, cases, compare, record_property):
    wrong = {
        case.id: found for case in cases if (found := compare(read(case, wire, way), case.expected))
    }
    record_property(
        "summary", f"corpus {api} ({way}): {len(cases) - len(wrong)} of {len(cases)} right"
    )
    assert cases
    assert not wrong, "\n".join(f"{name}: {found}" for name, found in wrong.items())


def test_an_answer_reads_the_same_however_it_was_cut(wire, cases):
    for case in cases:
        whole = read(case, wire, "whole")
        assert read(case, wire, "bytewise") == whole, case.id
        assert read(case, wire, "cut") == whole, case.id
