"""What can go wrong, in the user's terms."""


class SoftspreadError(Exception):
    """Base of every error that this package raises on purpose."""


class InputError(SoftspreadError, ValueError):
    """What was handed in cannot be used; the message says what came, what is allowed and what to do."""


class ConvergenceError(SoftspreadError, ArithmeticError):
    """A solver stopped before it reached the accuracy that was asked for."""


class StoreError(SoftspreadError, OSError):
    """A file is missing, cut short, not ours, or newer than this version."""


class MissingExtraError(SoftspreadError, ImportError):
    """An optional library is needed; the message names the extra that installs it."""


class PluginError(SoftspreadError, ImportError):
    """A part that another package registered cannot be used; the message names that package."""


class SoftspreadWarning(UserWarning):
    """The result stands, but deserves a look."""
