"""
A server that classifies mail for clients of SpamAssassin's spamd.

Requests on sockets go in, from clients that may be slow, broken or hostile; answers in
the protocol of spamd come out, in bounded time and memory. `supervise` runs worker
processes until a signal comes, and each of them runs `serve_as_worker`. What is
exported is loaded when it is first asked for.
"""

from typing import TYPE_CHECKING, Final

from nbtext.faces import lazy_face

if TYPE_CHECKING:
    from nbtext.serving.handlers import HandlerOptions
    from nbtext.serving.server import Log, Service
    from nbtext.serving.sockets import Listener, address_of, listen, network_of
    from nbtext.serving.users import check_users
    from nbtext.serving.workers import serve_as_worker, supervise

__all__ = [
    "HandlerOptions",
    "Listener",
    "Log",
    "Service",
    "address_of",
    "check_users",
    "listen",
    "network_of",
    "serve_as_worker",
    "supervise",
]

_HOMES: Final = {
    "handlers": ["HandlerOptions"],
    "server": ["Log", "Service"],
    "sockets": ["Listener", "address_of", "listen", "network_of"],
    "users": ["check_users"],
    "workers": ["serve_as_worker", "supervise"],
}

__getattr__ = lazy_face(__name__, _HOMES)
