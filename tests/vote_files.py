"""Files of votes for tests."""


def text(path, content, encoding="utf-8"):
    path.write_bytes(content.encode(encoding))
    return path


def export(**changes):
    """A Label Studio export with the four votes, one cancelled and one empty annotation."""

    def annotation(who, *choices, **more):
        result = (
            [{"type": "choices", "from_name": "label", "value": {"choices": list(choices)}}]
            if choices
            else []
        )
        return {"completed_by": {"id": 1, "email": who}, "was_cancelled": False, "result": result, **more}

    tasks = [
        {
            "id": 11,
            "data": {"image": "a"},
            "annotations": [annotation("ann", "cat"), annotation("bob", "cat")],
        },
        {"id": 12, "data": {"image": "b"}, "annotations": [annotation("bob", "dog"), annotation("ann")]},
        {
            "id": 13,
            "data": {"image": "c"},
            "annotations": [annotation("ann", "dog"), annotation("bob", "cat")],
        },
    ]
    tasks[2]["annotations"][1]["was_cancelled"] = True
    if "choices" in changes:
        tasks[0]["annotations"][0]["result"][0]["value"]["choices"] = changes["choices"]
    return tasks
