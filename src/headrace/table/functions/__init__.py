"""The built-in functions of SQL and the Table API: what they accept, what type they return, how they compute.

Functions are found by their upper-case names. Special syntax becomes a call as well; keywords are literals of type NULL:

| syntax | call |
| --- | --- |
| `a || b` | `||(a, b)` |
| `TRIM([side] [characters] FROM s)` | `TRIM(side, characters, s)` |
| `POSITION(a IN b)`, `OVERLAY(a PLACING b FROM n FOR m)` | `POSITION(a, b)`, `OVERLAY(a, b, n, m)` |
| `a LIKE b ESCAPE c`, `a SIMILAR TO b` | `LIKE(a, b, c)`, `SIMILAR TO(a, b)`; with NOT, the call NOT of these |
| `EXTRACT(unit FROM x)`, `FLOOR(x TO unit)`, `CEIL(x TO unit)` | `EXTRACT(unit, x)`, `FLOOR TO(x, unit)`, `CEIL TO(x, unit)` |
| `TIMESTAMPADD(unit, n, x)`, `TIMESTAMPDIFF(unit, a, b)` | the same, with the unit as a keyword |
| `(a, b) OVERLAPS (c, d)` | `OVERLAPS(a, b, c, d)` |
| `x IS JSON [VALUE, OBJECT, ARRAY, SCALAR]` | `IS JSON VALUE(x)` and so on |
| `JSON_EXISTS(x, path behaviour ON ERROR)` | `JSON_EXISTS(x, path, behaviour)`; without the clause FALSE |
| `JSON_VALUE(x, path RETURNING t a ON EMPTY b ON ERROR)` | `JSON_VALUE(x, path, returning, a, default, b, default)` |
| `JSON_QUERY(x, path RETURNING t w WRAPPER a ON EMPTY b ON ERROR)` | `JSON_QUERY(x, path, returning, w, a, b)` |
| `JSON_OBJECT(k VALUE v ... NULL ON NULL)` | `JSON_OBJECT(on_null, k, v ...)` |
| `JSON_ARRAY(v ... NULL ON NULL)` | `JSON_ARRAY(on_null, v ...)` |
| `ARRAY[a, b]`, `MAP[k, v]`, `ROW(a, b)`, `x[i]` | `ARRAY(a, b)`, `MAP(k, v)`, `ROW(a, b)`, `ITEM(x, i)` |

`returning` is a NULL literal of the type after RETURNING (STRING if there is none); a default that is not given is a NULL
literal. Without their clauses, JSON_VALUE and JSON_QUERY have NULL ON EMPTY and NULL ON ERROR, JSON_QUERY has WITHOUT ARRAY
WRAPPER, JSON_OBJECT has NULL ON NULL, and JSON_ARRAY has ABSENT ON NULL.
"""
