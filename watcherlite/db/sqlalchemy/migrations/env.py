"""How alembic runs the migrations: on the connection that it is handed."""

from alembic import context

from watcherlite.db.sqlalchemy.models import metadata

context.configure(
    connection=context.config.attributes['connection'],
    target_metadata=metadata,
    # `migration` has begun the transaction, and ends it.
    transactional_ddl=False,
    # SQLite changes a table by making it anew.
    render_as_batch=True,
)
context.run_migrations()
