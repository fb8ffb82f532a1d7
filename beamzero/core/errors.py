"""Errors, said in one line to the person who can mend it."""


class BadInput(ValueError):
    """A name, move, file or setting that cannot be used.

    The message is one line: what is wrong and what is allowed. The command line prints it and exits with status 2;
    nothing has been written when it is raised.

    >>> import beamzero as bz
    >>> try:
    ...     bz.make_game("othello", size=5)
    ... except bz.BadInput as error:
    ...     print(error)
    othello: size is 5, but must be one of 4, 6, 8
    """


class RunStopped(RuntimeError):
    """A run that could not go on (a full disk, a loss that is not finite).

    The message is one line. The last good checkpoint is still there; the command line exits with status 1.
    """
