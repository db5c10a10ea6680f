"""from_elements, functions of programs, descriptors."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from headrace.common import Row
from headrace.common.errors import HeadraceError, TypeMismatchError
from headrace.table import DataTypes, FormatDescriptor, ScalarFunction, Schema, TableDescriptor, TableFunction
from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.udf import udf, udtf


def values(result):
    return [tuple(row) if len(row) > 1 else row[0] for row in result.collect()]


class TestElements:
    def test_types_are_inferred_as_in_pyflink(self, t_env):
        element = (1, 1.5, "a", True, b"x", Decimal("1.5"), datetime.date(2020, 1, 1), datetime.time(1), [1], {"k": 1})
        table = t_env.from_elements([element])
        assert table.get_schema().get_field_names()[:2] == ["_1", "_2"]
        assert table.get_schema().get_field_data_types() == [
            DataTypes.BIGINT(), DataTypes.DOUBLE(), DataTypes.STRING(), DataTypes.BOOLEAN(), DataTypes.BYTES(),
            DataTypes.DECIMAL(38, 18), DataTypes.DATE(), DataTypes.TIME(), DataTypes.ARRAY(DataTypes.BIGINT()),
            DataTypes.MAP(DataTypes.STRING(), DataTypes.BIGINT()),
        ]  # fmt: skip
        assert values(table.execute()) == [element]

    def test_rows_dicts_and_single_values(self, t_env):
        assert list(t_env.from_elements([Row(b=1, a="x")]).execute().collect()) == [Row(b=1, a="x")]
        assert list(t_env.from_elements([{"b": 1, "a": "x"}]).execute().collect()) == [Row(a="x", b=1)]
        assert values(t_env.from_elements([1, 2], DataTypes.INT()).execute()) == [1, 2]

    def test_a_row_type(self, t_env):
        row = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.TINYINT()), DataTypes.FIELD("t", DataTypes.TIMESTAMP(3))])
        moment = datetime.datetime(2020, 1, 2, 3, 4, 5, 678000)
        assert values(t_env.from_elements([(1, moment), (None, None)], row).execute()) == [(1, moment), (None, None)]

    @pytest.mark.parametrize(
        ("elements", "schema", "message"),
        [
            ([("x",)], DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())]), "Element 0.*in field 'a'"),
            ([(300,)], DataTypes.ROW([DataTypes.FIELD("a", DataTypes.TINYINT())]), "in field 'a'"),
            ([(None,)], DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT(False))]), "NOT NULL"),
            ([(1, 2)], DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())]), "2 fields instead of 1"),
            ([], None, "cannot be inferred"),
            ([(None,)], None, "cannot be inferred"),
            ([(1,), ("a",)], None, "different types"),
            ([1], None, "columns of an element"),
        ],
    )
    def test_wrong_elements(self, t_env, elements, schema, message):
        with pytest.raises(TypeMismatchError, match=message):
            t_env.from_elements(elements, schema)

    def test_sets_and_limits(self, t_env):
        first, second = t_env.from_elements([(1,), (2,)], ["a"]), t_env.from_elements([(2,), (3,)], ["a"])
        assert sorted(values(first.union_all(second).execute())) == [1, 2, 2, 3]
        assert len(values(first.limit(1).execute())) == 1
        assert values(t_env.sql_query("SELECT * FROM (VALUES (3), (1), (2)) AS t (a)").execute())


class TestFunctions:
    def test_scalar_functions(self, t_env):
        class Twice(ScalarFunction):
            def open(self, function_context):
                self.factor = 2

            def eval(self, value):
                return None if value is None else value * self.factor

        t_env.create_temporary_function("twice", udf(Twice(), result_type=DataTypes.BIGINT()))
        t_env.create_temporary_system_function(
            "shout", udf(lambda text: text.upper() + "!", [DataTypes.STRING()], DataTypes.STRING())
        )
        t_env.create_temporary_view("t", t_env.from_elements([(1, "a"), (None, "b")], ["i", "s"]))
        assert values(t_env.execute_sql("SELECT twice(i), SHOUT(s) FROM t")) == [(2, "A!"), (None, "B!")]
        assert t_env.list_user_defined_functions() == ["shout", "twice"]

    def test_python_values_go_in_and_out(self, t_env):
        next_day = udf(lambda day, row: (day + datetime.timedelta(days=1), row.x), result_type=DataTypes.ROW(
            [DataTypes.FIELD("d", DataTypes.DATE()), DataTypes.FIELD("x", DataTypes.INT())]
        ))  # fmt: skip
        t_env.create_temporary_function("next_day", next_day)
        query = "SELECT next_day(DATE '2020-12-31', CAST(ROW(7) AS ROW<x INT>)) AS r"
        assert values(t_env.execute_sql(query)) == [Row(d=datetime.date(2021, 1, 1), x=7)]

    def test_table_functions(self, t_env):
        class Split(TableFunction):
            def eval(self, text):
                for word in text.split():
                    yield word, len(word)

        t_env.create_temporary_function("split", udtf(Split(), result_types=[DataTypes.STRING(), DataTypes.INT()]))
        t_env.create_temporary_view("t", t_env.from_elements([("to be",), ("",)], ["line"]))
        query = "SELECT line, word, size FROM t, LATERAL TABLE(split(line)) AS s (word, size)"
        assert values(t_env.execute_sql(query)) == [("to be", "to", 2), ("to be", "be", 2)]
        query = "SELECT line, word FROM t LEFT JOIN LATERAL TABLE(split(line)) AS s (word, size) ON TRUE"
        assert values(t_env.execute_sql(query)) == [("to be", "to"), ("to be", "be"), ("", None)]

    def test_a_function_by_its_path(self, t_env, tmp_path, monkeypatch):
        (tmp_path / "my_functions.py").write_text(
            "from headrace.table import DataTypes\nfrom headrace.table.udf import udf\n"
            "plus_one = udf(lambda x: x + 1, result_type=DataTypes.INT())\n"
        )
        monkeypatch.syspath_prepend(tmp_path)
        t_env.execute_sql("CREATE TEMPORARY FUNCTION plus1 AS 'my_functions.plus_one' LANGUAGE PYTHON")
        assert values(t_env.execute_sql("SELECT plus1(1)")) == [2]
        t_env.execute_sql("DROP TEMPORARY FUNCTION plus1")
        with pytest.raises(SqlValidationError, match="Unknown function 'plus1'"):
            t_env.execute_sql("SELECT plus1(1)")

    def test_errors(self, t_env):
        t_env.create_temporary_function("fails", udf(lambda x: x[0], result_type=DataTypes.INT()))
        with pytest.raises(HeadraceError, match="not subscriptable"):
            values(t_env.execute_sql("SELECT fails(x) FROM (VALUES (1)) AS t (x)"))
        t_env.create_temporary_function("wrong", udf(lambda x: "a", result_type=DataTypes.INT()))
        with pytest.raises(HeadraceError, match="does not have the type"):
            values(t_env.execute_sql("SELECT wrong(x) FROM (VALUES (1)) AS t (x)"))
        with pytest.raises(TypeMismatchError, match="not a user-defined function"):
            t_env.create_temporary_function("f", len)
        with pytest.raises(SqlValidationError, match="already defined"):
            t_env.create_temporary_function("wrong", udf(lambda x: "a", result_type=DataTypes.INT()))
        with pytest.raises(SqlNotSupportedError, match="Java"):
            t_env.create_java_temporary_function("f", "a.B")


class TestDescriptors:
    def test_tables_without_ddl(self, t_env, tmp_path):
        schema = Schema.new_builder().column("a", DataTypes.INT()).column("b", DataTypes.STRING()).build()
        form = FormatDescriptor.for_format("csv").option("field-delimiter", ";").build()
        descriptor = (
            TableDescriptor.for_connector("filesystem")
            .schema(schema)
            .option("path", str(tmp_path))
            .format(form)
            .build()
        )
        t_env.create_temporary_table("t", descriptor)
        t_env.from_elements(
            [(1, "x")], DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("b", DataTypes.STRING())])
        ).execute_insert("t").wait()
        assert next(tmp_path.glob("part-*")).read_text() == "1;x\n"
        assert values(t_env.from_path("t").execute()) == [(1, "x")]
        assert values(t_env.from_descriptor(descriptor).execute()) == [(1, "x")]

    def test_an_anonymous_sink_takes_the_columns_of_the_query(self, t_env, tmp_path):
        sink = TableDescriptor.for_connector("filesystem").option("path", str(tmp_path)).format("json").build()
        t_env.sql_query("SELECT 1 AS n").execute_insert(sink).wait()
        assert next(tmp_path.glob("part-*")).read_text() == '{"n":1}\n'
