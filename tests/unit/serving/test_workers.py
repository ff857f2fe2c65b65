from ipaddress import ip_network

from nbtext.scoring.decide import Policy
from nbtext.serving.handlers import HandlerOptions
from nbtext.serving.server import Service
from nbtext.serving.workers import LENGTH, framed, unframed


def test_a_worker_is_handed_the_service_as_it_is() -> None:
    options = HandlerOptions("m\udcff.nbt", "spam", None, Policy(0.9), 1000, 2.5)
    service = Service(options, 30.0, [ip_network("192.0.2.0/24")], may_tell=False)

    found, sockets = unframed(framed(service, [])[LENGTH.size :])

    assert found == service
    assert isinstance(found.handling.policy, Policy)
    assert sockets == []
