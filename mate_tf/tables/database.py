"""Reads tables from databases by SQLAlchemy (the extra `sql`)."""

import importlib.util
from typing import Any

from mate_tf.errors import InputError
from mate_tf.tables.limits import LimitedRows, Limits
from mate_tf.tables.table import Table


def read(url: str, limits: Limits, query: str | None, name: str, where: Any) -> Table:
    """Reads the result of a query, or a table.

    Args:
        url: SQLAlchemy URL of the database; "#table" may follow.
        limits: how much is read at most.
        query: SQL; None: all of a table.
        name: name of a table; "": the one after "#", or the only one.
        where: name of the database in messages.

    Raises:
        InputError: if the extra or the database's driver is not installed, the database cannot be
            read, or there are several tables and none is named.
    """
    if not importlib.util.find_spec("sqlalchemy"):
        raise InputError(f"{where}: databases need SQLAlchemy: pip install 'mate-tf[sql]'")
    import sqlalchemy
    import sqlalchemy.exc

    if not name:
        url, _, name = url.partition("#")
    try:
        engine = sqlalchemy.create_engine(url)
        with engine.connect() as connection:
            tables = sqlalchemy.inspect(engine).get_table_names()
            tables += sqlalchemy.inspect(engine).get_view_names()
            if query is None:
                table = sqlalchemy.table(_chosen(tables, name, where))
                statement = sqlalchemy.select(sqlalchemy.text("*")).select_from(table)
            else:
                statement = sqlalchemy.text(query)
            return _table(
                connection.execution_options(stream_results=True), statement, limits, where
            )
    except InputError:
        raise
    except (sqlalchemy.exc.SQLAlchemyError, ImportError, ValueError) as error:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        raise InputError(f"{where}: cannot be read: {reason}") from None


def _chosen(tables: list[str], name: str, where) -> str:
    if name in tables:
        return name
    listed = ", ".join(tables[:20]) or "none"
    if name:
        raise InputError(f"{where}: has no table {name!r}; it has: {listed}")
    if len(tables) != 1:
        raise InputError(f"{where}: name a table behind #, or give --query; it has: {listed}")
    return tables[0]


def _table(connection, statement, limits: Limits, where) -> Table:
    result = connection.execute(statement)
    if not result.returns_rows:
        raise InputError(f"{where}: the query gives no rows")
    header = list(result.keys())
    kept = LimitedRows(where, limits)
    kept.add_header(header)
    for number, row in enumerate(result, start=1):
        if not kept.add(tuple(row), f"row {number}"):
            break
    unread = kept.unread()
    if not kept.rows:
        raise InputError(f"{where}: no rows")
    return Table.from_rows(header, kept.rows, unread=unread)
