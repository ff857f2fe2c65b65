"""
Messages of Maildirs that somebody has looked at (flag S), and whatever is no Maildir's.

A folder of junk that a program has filled holds that program's verdicts; those that
its reader has seen and left there are the reader's own.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from nbtext.document import Item, Unread

_UNSEEN: Final = r"/(?:cur|new)/(?![^/]*[:;!]2,[A-Za-z]*S)[^/]*\Z"


def seen_only(items: Iterable[Item]) -> Iterator[Item]:
    """Leave out the messages of Maildirs that nobody has looked at."""
    is_unseen = re.compile(_UNSEEN).search
    for item in items:
        if not (isinstance(item, Unread) and item.is_mail and is_unseen(item.path)):
            yield item
