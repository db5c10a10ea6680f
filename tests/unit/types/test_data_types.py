"""Types of columns."""

from __future__ import annotations

import pytest

from headrace.table import DataTypes
from headrace.types.logical_types import DataType


@pytest.mark.parametrize(
    "kind",
    [
        DataTypes.INT(),
        DataTypes.TIME().not_null(),
        DataTypes.TIMESTAMP(3),
        DataTypes.DECIMAL(5, 2),
        DataTypes.ARRAY(DataTypes.STRING()),
        DataTypes.ROW([DataTypes.FIELD("a", DataTypes.DATE().bridged_to("java.sql.Date"))]),
    ],
    ids=repr,
)
def test_a_java_class_changes_no_type(kind: DataType) -> None:
    assert kind.bridged_to("java.lang.Object") == kind
