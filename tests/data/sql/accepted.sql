select 1.
select .5
select 1.e5
select 1e5
select 1.5e-3
select a <> b
select a % b
select a || b
select 'a' 'b'
select 'a'\n'b'
select _utf8'a'
select N'a'
select U&'\0041'
select U&'d!0061' uescape '!'
select x'0a'
select x'0'
select E'\n'
select date '2020-01-01'
select date '2020-13-01'
select date 'abc'
select time '10:00:00'
select time '25:00:00'
select timestamp '2020-01-01 00:00:00'
select timestamp '2020-01-01 00:00:00.123456789'
select timestamp '2020-01-01'
select timestamp '2020-01-01T00:00:00'
select {d '2020-01-01'}
select {ts '2020-01-01 00:00:00'}
select {fn abs(1)}
select interval '1' day
select interval 1 day
select interval a day
select interval (a+1) day
select interval '1' days
select interval '1 2' day to hour
select interval '1' week
select interval '1' quarter
select interval -'1' day
select - interval '1' day
select interval '1-2' year to month
select interval '10' second(3)
select interval '10' second(3,2)
select interval '10' minute(3) to second(2)
select a /* c */ , b -- x
select a // comment
select /*+ OPTIONS('a'='b') */ a from t
select a from t /*+ OPTIONS('a'='b') */
select $a
select a$b
select é
select `a``b`
select 1a
select a.b.c.d
select a.`*`
select t.* from t
select *, a from t
select a.*.b from t
select 1;
select 1;;
select 1; select 2
values 1, 2
values (1,2), row(3,4)
table t
(select 1)
((select 1)) union select 2
select 1 union all select 2 intersect select 3
select 1 limit 5
select 1 limit all
select 1 limit 3 offset 5
select 1 offset 5 rows fetch next 3 rows only
select 1 fetch first 3 rows only
select 1 order by 1 limit ?
select stream a from t
select all a from t
select distinct a from t
select a x, b as y from t
select cast(a as int)
select cast(a as varchar(5))
select cast(a as decimal(10,2))
select cast(a as decimal(10))
select cast(a as dec)
select cast(a as double precision)
select cast(a as double)
select cast(a as real)
select cast(a as timestamp(3) with local time zone)
select cast(a as timestamp without time zone)
select cast(a as timestamp_ltz(3))
select cast(a as time(3))
select cast(a as time with local time zone)
select cast(a as array<int>)
select cast(a as int array)
select cast(a as int array multiset)
select cast(a as map<int, string>)
select cast(a as multiset<int>)
select cast(a as row<a int, b string 'comment'>)
select cast(a as row(a int, b string))
select cast(a as row<>)
select cast(a as row())
select cast(a as raw('c', 's'))
select cast(a as structured<'c', a int>)
select cast(a as bytes)
select cast(a as binary(3))
select cast(a as varbinary(3))
select cast(a as binary varying(3))
select cast(a as char varying(3))
select cast(a as character(3))
select cast(a as variant)
select cast(a as bitmap)
select cast(a as any)
select cast(a as foo)
select cast(a as foo.bar)
select cast(a as interval day)
select cast(a as interval day to second(3))
select cast(a as interval year(2) to month)
select cast(a as date)
select cast(a as boolean)
select cast(a as bigint)
select cast(a as varchar character set utf8)
select try_cast(a as int)
select safe_cast(a as int)
select cast(a as uuid)
select cast(a as numeric(3,2))
select cast(a as integer)
select cast(a as tinyint)
select cast(a as char)
select cast(a as map)
select cast(a as timestamp_ltz)
select cast(a as timestamp(3) array)
select cast(a as row<`a` int 'c' , b int>)
select extract(day from a)
select extract(days from a)
select extract(epoch from a)
select extract(foo from a)
select extract(millennium from a)
select extract(microsecond from a)
select extract(week(monday) from a)
select position('a' in b)
select position('a' in b from 3)
select convert(a using utf8)
select convert(a, utf8, latin1)
select translate(a using utf8)
select translate(a, 'b', 'c')
select overlay(a placing b from 3)
select overlay(a placing b from 3 for 4)
select floor(a)
select floor(a to day)
select floor(a to foo)
select ceil(a to hour)
select ceiling(a)
select substring(a from 2)
select substring(a from 2 for 3)
select substring(a, 2, 3)
select substring(a, 2)
select trim(a)
select trim(both from a)
select trim(both 'x' from a)
select trim('x' from a)
select trim(leading a)
select timestampadd(day, 1, a)
select timestampadd(sql_tsi_day, 1, a)
select timestampadd(foo, 1, a)
select timestampdiff(day, a, b)
select timestamp_diff(a, b, day)
select date_trunc('day', a)
select date_trunc(a, day)
select count(*)
select count(distinct a)
select count(all a)
select count()
select sum(a) filter (where b > 1)
select sum(distinct a, b)
select sum(a) over (partition by b order by c rows between 1 preceding and current row)
select sum(a) over w from t window w as (order by b)
select sum(a) over (w order by b)
select sum(a) over (order by b range between interval '1' day preceding and current row)
select sum(a) over (order by b rows unbounded preceding)
select sum(a) over (order by b rows 1 preceding)
select sum(a) over (rows between unbounded preceding and unbounded following)
select sum(a) over ()
select sum(a) over (partition by b, c rows between current row and 2 following)
select sum(a) over (order by b rows 1 preceding allow partial)
select sum(a) over (order by b rows 1 preceding disallow partial)
select lag(a, 1) ignore nulls over (order by b)
select listagg(a, ',') within group (order by b)
select array_agg(a order by b)
select a.b(c)
select a.b.c(d)
select f(a => 1, b => 2)
select f(default)
select f(distinct a)
select f(table t)
select f((select 1))
select f(select 1)
select `f`(1)
select left(a, 1)
select right(a)
select current_date
select current_date()
select current_timestamp(3)
select current_timestamp()
select localtime
select localtimestamp(3)
select current_user
select user
select user()
select year(a)
select hour(a)
select second(a)
select dayofmonth(a)
select month(a), minute(a)
select char_length(a), char(a)
select date(a)
select time(a)
select timestamp(a)
select date('2020-01-01')
select json_value(a, '$.b')
select json_value(a, 'lax $.b' returning int default 1 on empty error on error)
select json_value(a, '$.b' null on empty null on error)
select json_value(a format json, '$.b')
select json_value(a, '$.b' passing 1 as x)
select json_exists(a, '$.b')
select json_exists(a, '$.b' true on error)
select json_exists(a, '$.b' unknown on error)
select json_query(a, '$.b' with wrapper)
select json_query(a, '$.b' without array wrapper)
select json_query(a, '$.b' with conditional array wrapper empty array on empty empty object on error)
select json_query(a, '$.b' returning array<string> null on empty)
select json_object('a' : b)
select json_object('a' value b)
select json_object(key 'a' value b)
select json_object(key 'a' value b null on null)
select json_object('a' : b, 'c' : d absent on null)
select json_object()
select json_objectagg(key a value b)
select json_objectagg(a : b absent on null)
select json_array(1, 2, 3)
select json_array(1, 2 null on null)
select json_array()
select json_arrayagg(a)
select json_arrayagg(a order by b null on null)
select json_object('a' : b format json)
select json(a), json_string(a), json_quote(a)
select cast(null as int)
select grouping(a), grouping_id(a,b), group_id()
select array[1,2], array[], map['a',1], map[], multiset[1]
select array(select 1), multiset(select 1), map(select 1,2)
select array(1,2)
select map(1,2)
select a[1], a['x'][2], a[1].b, (a).b, (a).b.c, f(a).b
select a[offset(1)], a[ordinal(1)], a[safe_offset(1)]
select case a when 1 then 2 end
select case when a then b else c end
select case a when 1, 2 then 3 else 4 end
select exists (select 1), not exists (select 1)
select unique (select 1)
select next value for s, current value for s
select new f(1)
select ?, ?
select period(a, b)
select (a, b) overlaps (c, d)
select period (a,b) contains c
select (a - b) day
select (a - b) day to second
select a from t x
select a from t as x(b, c)
select a from t as x (b)
select a from (select 1) x
select a from (select 1) as x(b)
select a from ((select 1) union (select 2)) as x
select a from (t join u on a = b)
select a from t, u
select a from t join u
select a from t join u on a = b
select a from t join u using (a, b)
select a from t natural join u
select a from t natural left join u
select a from t left outer join u on true
select a from t right join u on true
select a from t full outer join u on true
select a from t cross join u
select a from t cross join u on true
select a from t inner join u on true
select a from t, lateral table(f(a)) as x(b)
select a from t left join lateral table(f(a)) as x(b) on true
select a from t, lateral (select 1)
select a from table(tumble(table t, descriptor(ts), interval '1' minute))
select a from table(tumble(data => table t, timecol => descriptor(ts), size => interval '1' minute))
select a from tumble(table t, descriptor(ts), interval '1' minute)
select a from tumble(t, descriptor(ts), interval '1' minute)
select a from table(session(table t partition by a, descriptor(ts), interval '1' minute))
select a from table(session(table t partition by (a, b) order by c, descriptor(ts), interval '1' minute))
select a from table(f(table t partition by a order by b))
select a from table(f((select * from t) partition by a))
select a from unnest(array[1,2]) as x(b)
select a from unnest(a, b) with ordinality as x
select a from t, unnest(t.a) with ordinality as x(b, c)
select a from t cross join unnest(b) as x(c)
select a from t for system_time as of ts
select a from t for system_time as of ts as x
select a from t join u for system_time as of t.ts as x on true
select a from t for system_time as of proctime() x
select a from t tablesample bernoulli(10)
select a from t tablesample system(10) repeatable(3)
select a from t tablesample substitute('x')
select a from t x tablesample bernoulli(10)
select a from t tablesample bernoulli(10.5)
select a from (values (1,2)) as x(a, b)
select a from (values 1, 2)
select a from (table t)
select a from t pivot (sum(a) as s for b in ('x', 'y' as z))
select a from t pivot (sum(a) for (b, c) in (('x', 1) as z, ('y', 2)))
select a from t unpivot (m for n in (a, b))
select a from t unpivot include nulls (m for n in (a as 'x', b as 'y'))
select a from a.b.c.d
select a from t extend (x int)
select a from t (x int)
select a from t where b group by c having d window w as () qualify e
select a from t group by ()
select a from t group by (a, b), c
select a from t group by grouping sets ((a), (a, b), ())
select a from t group by rollup(a, b), cube(c, (d, e))
select a from t group by distinct a
select a from t group by all a
select a from t group by grouping sets (rollup(a), cube(b))
select a from t group by tumble(ts, interval '1' day), a
select a from t having a
select a from t qualify row_number() over () = 1
select a from t window w as (partition by a), v as (w order by b)
select a from t order by a asc nulls first, b desc nulls last
select a from t order by a limit 1
with x as (select 1) select * from x
with x(a, b) as (select 1, 2), y as (values 1) select * from x
with recursive x as (select 1) select * from x
with x as (select 1) values 1
with x as (select 1) (select 2)
(with x as (select 1) select * from x) union select 3
select a from (with x as (select 1) select * from x)
select * from t where a in (select b from u)
select * from t where a in ((select b from u))
select * from t where (a, b) in (select b, c from u)
select * from t where a not in (1, 2)
select * from t where a = any (select 1)
select * from t where a > all (1, 2)
select * from t where a = some(select 1)
select * from t where a between 1 and 2 and b
select * from t where a not between symmetric 1 and 2
select * from t where a like 'x' escape '\'
select * from t where a not similar to 'x'
select * from t where a ilike 'x'
select * from t where a rlike 'x'
select * from t where a is not distinct from b
select * from t where a is json value
select * from t where a is not a set
select * from t where a member of b
select * from t where not not a
select a = b = c, a < b < c
select a is null is not null
select not a is null
select a and not b or c
select -a, +a, - - a, -(a)
select a * -b
select a multiset union all b
(select a from t order by a) union (select 2 limit 1)
select a from t union select 2 order by a
select 1 union values 1
select 1 except all select 2
select 1 intersect distinct select 2
select * from t match_recognize (pattern (a b) define a as true)
select t.*, u.* from t, u
select (select 1), (select 2) + 1
select ((select 1))
select ((1))
select ((1), 2)
select (1, (2, 3))
select ((select 1) union (select 2))
select a from (select 1), (select 2)
select a from (select 1) join (select 2) on true
select a from t join (u join v on true) on true
select a from t left join u on true, v
create table t (a int primary key not enforced, b string) with ('x'='y')
create table t (a int primary key, b string)
create table t (a int unique not enforced)
create table t (a int primary key not enforced comment 'c')
create table t (a int constraint c primary key not enforced)
create table t (a int not null comment 'c', b as a + 1 comment 'd', c int metadata, d int metadata from 'x' virtual, e int metadata virtual comment 'y')
create table t (a int, primary key (a) not enforced, unique (a), watermark for a as a - interval '1' second)
create table t (a int, constraint x primary key (a) enforced)
create table t (a int, watermark for a.b as a)
create table t
create table t with ('a'='b')
create table t (a int) comment 'x' partitioned by (a) with ('a'='b')
create table t (a int) distributed by hash(a) into 3 buckets
create table t (a int) distributed by (a) into 3 buckets
create table t (a int) distributed into 3 buckets
create table t (a int) distributed by range(a, b)
create table t (a int) distributed by (a) partitioned by (b)
create table t (a int) with ('a'='b') like s
create table t (a int) like s (including all excluding options overwriting generated)
create table t like s
create table t with ('a'='b') like s (including constraints)
create table t as select 1
create table t with ('a'='b') as select 1
create table t (a, b) as select 1, 2
create table t (a int) as select 1
create table if not exists t (a int)
create temporary table t (a int)
create temporary table if not exists t (a int)
create or replace table t (a int)
create or replace table t as select 1
replace table t as select 1
create or replace table t (a int) as select 1
create table t (a int) with ()
create table a.b.c (`a` int)
create table t (a as proctime())
create table t (a as cast(x as int) comment 'x')
create table t (a.b int)
create view v as select 1
create view v (a, b) as select 1
create view v comment 'x' as select 1
create view if not exists v as select 1
create temporary view v as select 1
create or replace view v as select 1
create or replace temporary view v as select 1
create temporary view if not exists v as values 1
create view v as (select 1)
create view v as table t
create database d
create database if not exists d comment 'x' with ('a'='b')
create database d with ()
create catalog c
create catalog c with ('a'='b')
create catalog if not exists c comment 'x' with ('a'='b')
create function f as 'x'
create function if not exists f as 'x' language python
create temporary function f as 'x' language scala
create temporary system function f as 'x' language java
create temporary system function if not exists f as 'x'
create function f as 'x' using jar 'a', jar 'b'
create function f as 'x' using artifact 'a'
create function f as 'x' with ('a'='b')
create function a.b.f as 'x'
create function f as 'x' language sql
create or replace function f as 'x'
create model m with ('a'='b')
create model m input (a int) output (b string) with ('a'='b')
create model if not exists m comment 'x' with ('a'='b')
create temporary model m with ('a'='b')
create model m as select 1
create model m with ('a'='b') as select 1
create connection c with ('a'='b')
create temporary connection c comment 'x' with ('a'='b')
create temporary system connection c with ('a'='b')
create materialized table m as select 1
create materialized table m freshness = interval '1' minute as select 1
create materialized table m freshness = interval '1' minute refresh_mode = full as select 1
create materialized table m refresh_mode = continuous as select 1
create materialized table m (a, b) as select 1
create materialized table m start_mode = from_beginning as select 1
create or alter materialized table m as select 1
alter table t rename to u
alter table if exists t rename to u
alter table t rename a to b
alter table t set ('a'='b')
alter table t reset ('a', 'b')
alter table t reset ()
alter table t add a int
alter table t add a int after b
alter table t add (a int, b as c, primary key (a) not enforced, watermark for x as y)
alter table t add (a int first)
alter table t add primary key (a) not enforced
alter table t add constraint c primary key (a) not enforced
alter table t add watermark for a as b
alter table t add distribution by hash(a) into 3 buckets
alter table t add partition (a=1)
alter table t add if not exists partition (a=1) with ('a'='b') partition (a=2)
alter table t modify a int
alter table t modify (a int, b int)
alter table t modify distribution into 3 buckets
alter table t modify watermark for a as b
alter table t drop a
alter table t drop (a, b)
alter table t drop primary key
alter table t drop constraint c
alter table t drop watermark
alter table t drop distribution
alter table t drop partition (a=1)
alter table t drop if exists partition (a=1), partition (a=2)
alter view v rename to w
alter view v as select 1
alter database d set ('a'='b')
alter catalog c set ('a'='b')
alter catalog c reset ('a')
alter catalog c comment 'x'
alter catalog c reset ()
alter function f as 'x'
alter function if exists f as 'x' language python
alter temporary function f as 'x'
alter temporary system function f as 'x'
alter model m set ('a'='b')
alter model m rename to n
alter model m reset ('a')
alter model if exists m reset ()
alter connection c set ('a'='b')
alter connection c rename to d
alter connection if exists c reset ('a')
alter materialized table m suspend
alter materialized table m resume
alter materialized table m resume with ('a'='b')
alter materialized table m refresh
alter materialized table m refresh partition (a=1)
alter materialized table m set ('a'='b')
alter materialized table m reset ('a')
alter materialized table m set freshness = interval '1' minute
alter materialized table m set refresh_mode = full
alter materialized table m as select 1
alter materialized table m add a int
alter materialized table m drop a
alter materialized table m add distribution into 3 buckets
alter system set a = 1
alter session set a = b
alter session reset a
alter system reset all
insert into t select 1
insert into t (a, b) select 1
insert into t partition (a=1) (b) select 1
insert overwrite t select 1
insert into t values (1,2)
insert into t values 1
insert into t table u
insert into t (select 1)
insert into t /*+ options('a'='b') */ select 1
insert into t /*+ options('a'='b') */ (a) select 1
insert into t with x as (select 1) select * from x
insert into t (a.b) select 1
insert into t (a int) select 1
insert into t select 1 on conflict do nothing
insert into t select 1 on conflict do deduplicate
insert into t select 1 on conflict do error
upsert into t values 1
upsert into t select 1
delete from t
delete from t where a = 1
delete from t as x where x.a = 1
delete from t x
update t set a = 1
update t set a = 1, b = 2 where c
update t x set a = 1
merge into t using u on a = b when matched then update set a = 1 when not matched then insert (a) values (1)
merge into t as x using u as y on a = b when matched then update set a = 1
merge into t using (select 1) u on a = b when not matched then insert values (1, 2)
truncate table t
begin statement set
begin statement set;
end
end;
execute statement set begin insert into t select 1; insert into u select 2; end
execute select 1
execute insert into t select 1
execute values 1
execute plan 'x'
compile plan 'x' for insert into t select 1
compile plan 'x' if not exists for insert into t select 1
compile plan 'x' for statement set begin insert into t select 1; end
compile and execute plan 'x' for insert into t select 1
explain select 1
explain plan for select 1
explain estimated_cost, changelog_mode select 1
explain json_execution_plan select 1
explain plan_advice select 1
explain plan for insert into t select 1
explain statement set begin insert into t select 1; end
explain execute select 1
explain execute statement set begin insert into t select 1; end
explain values 1
explain table t
explain (select 1)
describe t
desc t
describe extended t
describe table t
describe catalog c
describe catalog extended c
desc catalog extended c
describe database d
describe database extended a.b
describe job 'x'
describe function f
describe function extended f
describe model m
describe model extended m
describe connection c
describe connection extended c
describe select 1
describe statement select 1
show tables
show tables from a
show tables from a.b like 'x'
show tables in a not like 'x'
show tables like 'x'
show views
show views from a like 'x'
show materialized tables
show materialized tables in a like 'x'
show databases
show databases from c
show databases in c ilike 'x'
show databases not like 'x'
show catalogs
show catalogs like 'x'
show functions
show user functions
show user functions from a like 'x'
show functions in a ilike 'x'
show procedures
show procedures from a like 'x'
show modules
show full modules
show columns from t
show columns in t like 'x'
show columns from t not like 'x'
show create table t
show create view v
show create catalog c
show create materialized table m
show create model m
show create connection c
show partitions t
show partitions t partition (a=1)
show current catalog
show current database
show jars
show jobs
show models
show models from a like 'x'
show connections
show connections from a like 'x'
show tables from a.b.c
use a
use a.b
use catalog a
use modules a, b
set 'a' = 'b'
set
reset 'a'
reset
load module m
load module m with ('a'='b')
unload module m
add jar 'x'
remove jar 'x'
call f()
call a.b.f(1, x => 2)
analyze table t compute statistics
analyze table t compute statistics for columns a, b
analyze table t compute statistics for all columns
analyze table t partition (a=1, b) compute statistics for all columns
stop job 'x'
stop job 'x' with savepoint
stop job 'x' with savepoint with drain
drop table t
drop table if exists t
drop temporary table t
drop temporary table if exists a.b.t
drop view v
drop temporary view if exists v
drop function f
drop temporary function f
drop temporary system function f
drop system function f
drop database d
drop database if exists d cascade
drop database d restrict
drop catalog c
drop catalog if exists c
drop catalog a.b
drop model m
drop model if exists m
drop temporary model m
drop connection c
drop temporary connection c
drop temporary system connection c
drop materialized table m
drop materialized table if exists m
alter table if exists t add (a int)
alter table t modify (watermark for a as b, constraint c primary key (a) not enforced)
