"""Numbers in sentences."""


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural where it is not 1.

    Examples
    --------
    >>> counted(1, "class"), counted(1_200, "class"), counted(0, "vote")
    ('1 class', '1,200 classes', '0 votes')
    """
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{ending}"
