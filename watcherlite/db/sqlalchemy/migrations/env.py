"""The alembic environment, which migrates on an existing connection."""

from alembic import context

from watcherlite.db.sqlalchemy.tables import metadata

context.configure(
    connection=context.config.attributes['connection'],
    target_metadata=metadata,
    # `migration` has begun the transaction, and ends it.
    transactional_ddl=False,
    # SQLite alters a table by copying it.
    render_as_batch=True,
)
context.run_migrations()
