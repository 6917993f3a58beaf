"""Connections of the bench's own, beside those of what it measures."""

from typing import Any

import kombu
import psycopg
import sqlalchemy as sa


def postgresql(url: str) -> psycopg.Connection[Any]:
    """Return a connection in autocommit mode to what an SQLAlchemy URL names."""
    parts = sa.make_url(url)
    return psycopg.connect(
        autocommit=True,
        host=parts.host,
        port=parts.port,
        user=parts.username,
        password=parts.password,
        dbname=parts.database,
    )


def broker(url: str) -> Any:
    """Return a connection of py-amqp to the virtual host that a URL names."""
    connection = kombu.Connection(url, transport='pyamqp', connect_timeout=5)
    return connection.transport.establish_connection()
