"""`--keyed` refused where no model is keyed: whoever gives it expects one that is."""

from typing import TYPE_CHECKING

from nbtext.cli._report import escaped
from nbtext.errors import SettingsError

if TYPE_CHECKING:
    from nbtext.scoring import Model
    from nbtext.store import ModelFile


def check_keyed(keyed: str | None, *models: "Model | ModelFile") -> None:
    """
    Refuse a secret where no model was made with one.

    Raises:
        SettingsError: one is given, and no model is keyed.
    """
    if keyed is not None and all(model.settings.secret is None for model in models):
        names = ", ".join(escaped(model.path) for model in models)
        are = "the model is" if len(models) == 1 else "the models are"
        message = f"{names}: {are} not keyed; leave out --keyed"
        raise SettingsError(message)
