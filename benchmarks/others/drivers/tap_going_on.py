"""tap-github, which ends at the first list that is refused, told to pass over such lists.

It also needs the field `type` of issues, which the simulator does not have.
"""

from typing import Any

from tap_github.client import GitHubRestStream
from tap_github.repository_streams import IssuesStream
from tap_github.tap import TapGitHub

REFUSED = [403, 404, 409, 410, 451]
post_process = IssuesStream.post_process


def pass_over(stream: type[GitHubRestStream]) -> None:
    """Also in every kind of stream."""
    stream.tolerated_http_errors = [*stream.tolerated_http_errors, *REFUSED]
    for kind in stream.__subclasses__():
        pass_over(kind)


def with_type(self: IssuesStream, row: Any, context: Any = None) -> Any:
    """An issue without a type, as GitHub writes it."""
    return post_process(self, {"type": None, **row}, context)


if __name__ == "__main__":
    pass_over(GitHubRestStream)
    IssuesStream.post_process = with_type
    TapGitHub.cli()
