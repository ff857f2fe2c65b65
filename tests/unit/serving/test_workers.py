import socket
from ipaddress import ip_network

from nbtext.policy import Cost, PolicyOverrides
from nbtext.serving.framing import framed, unframed
from nbtext.serving.handlers import HandlerOptions
from nbtext.serving.server import Service
from nbtext.serving.workers import described, rebuilt


def test_a_worker_is_handed_the_service_as_it_is() -> None:
    policy = PolicyOverrides(threshold=0.9, costs=(Cost("ham", "spam", 9.0),))
    options = HandlerOptions("m\udcff.nbt", "spam", None, policy, 1000, 2.5)
    service = Service(
        options, 30.0, [ip_network("192.0.2.0/24")], may_tell=False, trusts_names=True
    )
    ours, theirs = socket.socketpair()

    with ours, theirs:
        ours.sendall(framed(described(service, [])))
        found, sockets = rebuilt(unframed(theirs))

    assert found == service
    assert isinstance(found.handling.policy, PolicyOverrides)
    assert sockets == []
