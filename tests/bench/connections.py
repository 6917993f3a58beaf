"""Connections of the benchmark to the database and the broker."""

from typing import Any

import kombu
import psycopg
import sqlalchemy as sa


def postgresql(url: str) -> psycopg.Connection[Any]:
    """Return a connection in autocommit mode to the database of an SQLAlchemy URL."""
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
    """Return a py-amqp connection to the virtual host of a URL."""
    connection = kombu.Connection(url, transport='pyamqp', connect_timeout=5)
    return connection.transport.establish_connection()
