"""Pages of lists: their size, whatever the API."""

from watcherlite.api.operation import Request


def page_size(request: Request) -> int:
    """Return the maximum number of rows of a page; 0: no rows are requested."""
    most = request.services.max_limit
    limit: int = request.query.get('limit', most)
    return min(limit, most)
