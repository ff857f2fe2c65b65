"""
Leaving out the messages of Maildirs that have not been read (without the flag S).

A program that fills a folder of junk has made its own verdicts. A message that its
reader has seen there and left there is the reader's verdict.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from nbtext.document import Item, Unread

_UNSEEN: Final = r"/(?:cur|new)/(?![^/]*[:;!]2,[A-Za-z]*S)[^/]*\Z"


def seen_only(items: Iterable[Item]) -> Iterator[Item]:
    """Leave out the messages of Maildirs that have not been read."""
    is_unseen = re.compile(_UNSEEN).search
    for item in items:
        if not (isinstance(item, Unread) and item.is_mail and is_unseen(item.path)):
            yield item
