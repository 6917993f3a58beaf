"""Mapping of rows to dataclasses, by the names of columns and fields.

The types of the columns convert the values.
"""

import dataclasses
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

Object = TypeVar('Object')


class RowMapper(Generic[Object]):
    """The mapper of a dataclass to the columns of a table.

    :ivar columns: in the order of the fields, for a SELECT or RETURNING; `read` takes a
        row of them
    :ivar names: the names of these columns

    :param renamed: field -> column, where their names differ
    :param groups: field -> the dataclass whose fields are columns of the same row
    """

    def __init__(
        self,
        kind: type[Object],
        table: sa.Table,
        renamed: Mapping[str, str] | None = None,
        groups: Mapping[str, type] | None = None,
    ) -> None:
        self.kind: Callable[..., Object] = kind
        self.table = table
        renamed = renamed or {}
        columns: list[sa.Column[Any]] = []
        fields: list[str] = []
        self._groups: list[tuple[int, int, type]] = []
        for field in dataclasses.fields(kind):  # type: ignore[arg-type]
            inner = (groups or {}).get(field.name)
            if inner is None:
                names = {field.name: field.name}
            else:
                names = {f'{field.name}.{f.name}': f.name for f in _fields(inner)}
                self._groups.append((len(fields), len(names), inner))
            for path, name in names.items():
                fields.append(path)
                columns.append(table.c[renamed.get(name, name)])
        self.columns = tuple(columns)
        self.names = tuple(column.name for column in columns)
        self._paths = dict(zip(self.names, fields, strict=True))
        self._get = operator.attrgetter(*fields)
        self._key = self.names.index('id') if 'id' in self.names else 0
        #: The class of stored objects adds the id, which new objects do not have.
        self._keyed = any(f.name == 'id' and f.kw_only for f in _fields(kind))
        unkeyed = [at for at, name in enumerate(self.names) if name != 'id']
        self._columns_to_store = [self.names[at] for at in unkeyed]
        self._get_to_store = operator.attrgetter(*(fields[at] for at in unkeyed))

    def read(self, row: Sequence[Any]) -> Object:
        """Return the object of a row of the columns."""
        values = row
        if self._groups:
            values = self._group(row)
        if self._keyed:
            return self.kind(*values[:-1], id=values[-1])
        return self.kind(*values)

    def _group(self, row: Sequence[Any]) -> list[Any]:
        """Return the values of the fields, with each group as one object."""
        values = list(row)
        for begin, length, kind in reversed(self._groups):
            values[begin : begin + length] = [kind(*values[begin : begin + length])]
        return values

    def values(self, item: Object) -> tuple[Any, ...]:
        """Return the values of an object, in the order of the columns."""
        values: tuple[Any, ...] = self._get(item)
        return values

    def by_column(self, item: Any) -> dict[str, Any]:
        """Return the values of an object by column, without its id.

        :param item: an object, stored or new
        """
        values = self._get_to_store(item)
        return dict(zip(self._columns_to_store, values, strict=True))

    def values_of(self, *names: str) -> Callable[[Any], tuple[Any, ...]]:
        """Return a function that returns the values of an object in some columns.

        It accepts a new object unless the id is one of these columns.
        """
        return operator.attrgetter(*(self._paths[name] for name in names))

    def is_absent(self, row: Sequence[Any]) -> bool:
        """Return whether these columns are those of an outer join without a match."""
        return row[self._key] is None

    def select(self) -> sa.Select[Any]:
        """Return a SELECT of the columns."""
        return sa.select(*self.columns)


def _fields(kind: type) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(kind)


def split(row: Sequence[Any], *mappers: RowMapper[Any]) -> Iterator[Any]:
    """Yield the objects of a joined row, one for each mapper; None: no match."""
    begin = 0
    for mapper in mappers:
        part = row[begin : begin + len(mapper.columns)]
        begin += len(mapper.columns)
        yield None if mapper.is_absent(part) else mapper.read(part)
