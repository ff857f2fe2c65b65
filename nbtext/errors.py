"""
Everything nbtext raises on purpose.

* NbtextError
  - SourceError         a document cannot be found, read or taken apart
    + MissingSourceError  there is nothing where a source should be
  - TrainingError       the documents cannot support a model
  - SettingsError       settings that contradict the model or one another
  - ModelFileError
    + NoModelError      there is no file where the model should be
    + NotAModelError    the bytes were never a model, or are damaged
    + ModelVersionError a model, but of a format this nbtext does not read
    + ModelWriteError   a model cannot be written

A message says where, what was expected, what was found and what to do next; it
starts in lower case and has no final stop, because the command line prints it
after "Error: ". Mistakes of the caller's code (a negative alpha, an array of the
wrong shape) stay ValueError and TypeError.
"""


class NbtextError(Exception):
    """Base of the errors that are the data's fault, not the program's."""


class SourceError(NbtextError):
    """A document cannot be found, read or taken apart."""


class MissingSourceError(SourceError):
    """There is no file or folder where a source was said to be."""


class TrainingError(NbtextError):
    """The documents at hand cannot support a model."""


class SettingsError(NbtextError):
    """Settings that contradict the model or one another."""


class ModelFileError(NbtextError):
    """A model file cannot be read or written."""


class NoModelError(ModelFileError):
    """There is no file where the model should be."""


class NotAModelError(ModelFileError):
    """The bytes were never a model, or they are damaged."""


class ModelVersionError(ModelFileError):
    """A model, but of a format version that this nbtext does not read."""


class ModelWriteError(ModelFileError):
    """A model cannot be written; what was there before is unchanged."""
