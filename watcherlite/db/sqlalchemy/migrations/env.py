"""The alembic environment: migrations run on the connection that they are given."""

from alembic import context

from watcherlite.db.sqlalchemy.tables import metadata

context.configure(
    connection=context.config.attributes['connection'],
    target_metadata=metadata,
    # `migration` has begun the transaction, and ends it.
    transactional_ddl=False,
    # SQLite changes a table by making it anew.
    render_as_batch=True,
)
context.run_migrations()
