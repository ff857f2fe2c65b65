"""What is settled before training: which columns are read, what must stay keyed."""

from nbtext import wording
from nbtext.arguments import instance_of
from nbtext.errors import ModelFileError, SecretError
from nbtext.learning.overrides import SettingsOverrides, checked_overrides
from nbtext.sources import Options
from nbtext.sources.guess import ColumnGuess
from nbtext.store import open_model


def reading_columns(
    options: Options, overrides: SettingsOverrides
) -> tuple[Options, SettingsOverrides]:
    """
    Return what to train with, where columns are guessed if none are named.

    Raises:
        TypeError: options or overrides are none, or one of them is of another type.
        ValueError: an option is none of those that there are.
    """
    options = instance_of("options", options, Options)
    options.check()
    overrides = checked_overrides(overrides)
    guess = ColumnGuess()
    if options.fields:
        guess.close()  # of the label alone
        options = options._replace(guess=guess)
        return options, overrides._replace(fields=options.fields)
    options = options._replace(model_fields=guess.guessed, guess=guess)
    return options, overrides._replace(guessed=guess.close)


def check_stays_keyed(path: str, overrides: SettingsOverrides) -> None:
    """
    Refuse to put a model that is not keyed in the place of one that is.

    Raises:
        SecretError: that would be so.
    """
    if overrides.secret is not None:
        return
    try:
        before = open_model(path).settings.secret
    except ModelFileError:  # whether it can be replaced is said elsewhere
        return
    if before is not None:
        keyed = wording.given(keyed=wording.Blank("FILE"))
        message = (
            f"{path}: the model there is keyed, and the new one would not be; name the "
            f"secret with {keyed}, or replace it with {wording.given(replace=True)}"
        )
        raise SecretError(message)
