"""What tells mail is listed where keys are read, too, which does not load the mail."""

from nbtext.mail import recognising
from nbtext.tokens import key_reading


def test_both_lists_of_fields_that_tell_mail_are_the_same() -> None:
    fields = {name.encode() for name in recognising.TELL_TALE_FIELDS}

    assert fields == {*key_reading._TELL_TALE}
    assert key_reading._LOOKED_AT == recognising._LOOKED_AT
