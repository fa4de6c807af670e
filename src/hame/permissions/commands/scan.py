"""The deny scan: every command of a line, at every depth, against what is always refused.

It is a second net. What it misses is asked about, since only what is surely read-only runs freely.
"""

from hame.permissions.commands.denied_flows import Flows, refuse_flow, refuse_text
from hame.permissions.commands.denied_places import refuse_places
from hame.permissions.commands.denied_programs import refuse_program
from hame.permissions.commands.scene import Scene
from hame.permissions.decision import Decision, Judgement


def scan(scene: Scene) -> Judgement | None:
    """The refusal, if there is one."""
    refused = refuse_text(scene.text)
    if refused is None:
        flows = Flows(scene.commands)
        for found in scene.commands:
            refused = (
                refuse_program(found, scene)
                or refuse_flow(found, flows)
                or refuse_places(found, scene)
            )
            if refused is not None:
                break
    if refused is None:
        return None
    rule, reason = refused
    return Judgement(Decision.DENY, reason, f"{rule} {RULES[rule]}")


RULES: dict[str, str] = {
    "D1": "destroys a whole place",
    "D2": "devices and disks",
    "D3": "secrets",
    "D4": "protected places and services",
    "D5": "downloaded code",
    "D6": "reverse shells",
    "D7": "other rights",
    "D8": "state of the machine",
    "D9": "fork bombs",
    "D10": "hame and other agents",
    "D11": "output in an address",
    "D12": "prints secrets, hidden characters",
}
"""What is always refused, by number."""
