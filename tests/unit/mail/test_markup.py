import pytest

from nbtext.mail.markup import html_text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        pytest.param("vi<b>ag</b>ra", "viagra", id="inline tags vanish"),
        pytest.param('vi<FONT size="1">ag</Font >ra', "viagra", id="in either case"),
        pytest.param("on<br/>two<p>three", "on two three", id="others separate"),
        pytest.param("<bold>a<broad>b", " a b", id="only whole names are inline"),
        pytest.param("a<o:p></o:p>b", "ab", id="Office's tags are inline"),
        pytest.param("Fr<!-- x > -- y -->ee", "Free", id="comments vanish"),
        pytest.param("a<!-- b", "a<!-- b", id="an endless comment is text"),
        pytest.param("<!DOCTYPE html><?xml?>a", " a", id="declarations separate"),
        pytest.param("I <3 you, a < b", "I <3 you, a < b", id="a lone < is text"),
        pytest.param("a <b", "a <b", id="an endless tag is text"),
        pytest.param("<td>a</td>\n <td>b", " a b", id="white space is merged"),
        pytest.param("<style>x{}</style>", " x{} ", id="hidden text is kept"),
    ],
)
def test_tags(markup: str, text: str) -> None:
    assert html_text(markup) == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        pytest.param("a&nbsp;b&#160;c&#xA0;d", "a b c d", id="no-break spaces"),
        pytest.param("&lt;b&gt; &amp;lt;", "<b> &lt;", id="decoded once, after tags"),
        pytest.param("&#86;&#x49;A", "VIA", id="numeric"),
        pytest.param("&eacute;&euro;", "é€", id="named"),
        pytest.param("&copy 2002", "© 2002", id="old names need no semicolon"),
        pytest.param("&nosuch; AT&T &", "&nosuch; AT&T &", id="others are text"),
        pytest.param("&#146;", "\u2019", id="Windows-1252"),
        pytest.param("&#xD800;&#0;&#x110000;", "\ufffd" * 3, id="not characters"),
    ],
)
def test_character_references(markup: str, text: str) -> None:
    assert html_text(markup) == text


@pytest.mark.parametrize("n", [0, 1, 8, 100_000])
def test_numbers_of_any_length_are_read(n: int) -> None:
    zeros, nines = "0" * n, "9" * (n + 7)

    assert html_text(f"&#{zeros}86;&#x{zeros}49;&#{zeros}65A") == "VIAA"
    assert html_text(f"a&#{nines};b&#x{nines}cafe;d") == "a\ufffdb\ufffdd"
    assert html_text(f"&#{zeros}1114111;&#x{zeros}110000;") == "\U0010ffff\ufffd"
