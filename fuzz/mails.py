"""Mails to begin with, and words that mails are made of."""

from collections.abc import Iterator
from typing import Final

PLAIN: Final = b"""\
From ann Mon Jul  1 14:03:09 2002
Return-Path: <ann@example.org>
Received: from mx (mx.example.org [192.0.2.17])
 by mail; Mon, 1 Jul 2002 14:03:09 +0200
From: Ann <ann@example.org>
To: bob@example.net
Subject: =?iso-8859-1?q?caf=E9?= =?utf-8?B?4oKs?= on friday
Date: Mon, 1 Jul 2002 14:03:09 +0200
Message-ID: <1@example.org>
X-Spam-Status: No

Lunch on Friday? 1.500,00 $, see http://example.org/a?b=c#d
"""

NESTED: Final = b"""\
From: a@example.org
Date: 1 Jul 2002 9:03
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="=_ab"

preamble
--=_ab
Content-Type: multipart/alternative; boundary=c

--c
Content-Type: text/plain; charset="utf-8"
Content-Transfer-Encoding: base64

TsOhLA==
--c
Content-Type: text/html; charset=gb2312
Content-Transfer-Encoding: quoted-printable

<p>fr<b>=65</b>e<!-- x --> p&eacute;b&#233;&nbsp;=
eer
--c--
--=_ab
Content-Type: message/rfc822

Subject: inside
Content-Type: text/plain; charset=iso-2022-jp

\x1b$B$3$s$K$A$O\x1b(B
--=_ab
Content-Type: application/octet-stream; name=x
Content-Transfer-Encoding: base64

AAECAwQ=
--=_ab--
epilogue
"""

ENCODED: Final = b"""\
Subject: data
Date: Tue, 2 Jul 2002 14:03 GMT
Content-Type: text/plain; charset=windows-1251
Content-Transfer-Encoding: x-uuencode

begin 644 x
#86)C
`
end
\xcf\xf0\xe8\xe2\xe5\xf2
"""

SPLIT: Final = NESTED.replace(b'="=_ab"', b'*0="=_a"; boundary*1=b')
"""The same, its boundary in two parts."""

ASKING: Final = ENCODED.replace(b"x-uuencode", b"8bit")
"""What the compiled reader does not refuse, but asks about."""

DIGEST: Final = b"""\
Received: a
Message-ID: b
Content-Type: multipart/digest; boundary=d

--d

Subject: first

one two three
--d

Subject: second

>From here on
--d--
"""

STRAY: Final = b"""\
Date: x
this is no field
Received: y; z
Status: RO

body
"""

DEEP: Final = b"Content-Type: message/rfc822\n\n" * 18 + b"Subject: deep\n\ndown\n"

WIDE: Final = b"".join(
    b"Content-Type: multipart/mixed; boundary=w%d\n\n--w%d\n" % (level, level)
    for level in range(18)
)
"""Levels of messages, and of multiparts, more than are read."""

WORDS: Final = (
    *(b"\n", b"\n\n", b"\r\n", b"\n ", b"\n\t", b"\n--", b"--\n", b": ", b"From "),
    *(b"Subject: ", b"Received: ", b"Date: ", b"Message-ID: ", b"Status: ", b"To: "),
    *(b"Content-Type: ", b"multipart/mixed", b"multipart/digest", b"message/rfc822"),
    *(b"; boundary=", b"; boundary*0=", b"; charset=", b"; charset*=", b"text/html"),
    *(b"utf-7", b"utf-16", b"iso-2022-jp", b"hz", b"gb18030", b"big5", b"shift_jis"),
    *(b"Content-Transfer-Encoding: ", b"base64", b"quoted-printable", b"x-uuencode"),
    *(b"begin 644 x\n", b"\nend\n", b"=?utf-8?q?", b"=?x?b?", b"?=", b"=\n", b"=3D"),
    *(b"<b>", b"</b>", b"<p ", b"<!--", b"-->", b"&#", b"&amp;", b"&nbsp;", b"\\"),
    *(
        b"1.2.3.4",
        b"12:30:00 +0100",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xe9",
        b"\xc3\xa9",
    ),
    *(b"\xed\xa0\x80", b"\xf0\x9f\x92\xb6", b"\xce\xa3", b"\xc4\xb0", b"+AGE-", b"~{"),
)


def seeds() -> Iterator[bytes]:
    """Yield mails of all kinds, and some that are hardly any."""
    yield from (PLAIN, NESTED, SPLIT, ENCODED, ASKING, DIGEST, STRAY, DEEP, WIDE)
    yield from (PLAIN.replace(b"\n", b"\r\n"), NESTED.replace(b"\n", b"\r"))
    yield from (b"", b"\n", b"one two\ntwo three\n", b"a:", b"\xff\xfea\x00")
