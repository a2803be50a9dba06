"""The study behind ``SoftLabeler``: soft labels, intervals and quality on design and on judging sets."""
