select 1..2
select a != b
select a == b
select a && b
select a ^ b
select !a
select ~a
select a -> b
select a::int
select "a"
select interval '1' millisecond
select a # comment
select a from t /*+ foo(a, 'b', 1) */ as x
select a from t as x /*+ OPTIONS('a'='b') */
select 'a
select `a
select 1 /* a
;
values
1 + 1
select 1 minus select 2
select 1 limit 5, 6
select 1 offset 5 limit 3
select 1 fetch first row only
select 1 where true
select a as 'x' from t
select a 'x' from t
select a as select from t
select cast(a as int not null)
select cast(a as int null)
select cast(a as varchar(max))
select cast(a as float(5))
select cast(a as timestamp(3) with time zone)
select cast(a as array<int not null> not null)
select cast(a as int not null array)
select cast(a as structured<'c', a int comment 'x'>)
select cast(a as row<a int comment 'x'>)
select cast(a as row<int>)
select cast(a as national character varying)
select cast(a as null)
select cast(a as geometry)
select cast(a as cursor)
select cast(a as int unsigned)
select cast(a as blob)
select cast(a as string(4))
select cast(a as bytes(4))
select cast(a as date format 'x')
select convert(a, int)
select cast(a as datetime)
select cast(a as array)
select cast(a as function(int)->int)
select cast(a as row<a int not null, b row<c int>> not null)
select cast(a as decimal(10,-2))
select cast(a as decimal(10,2,3))
select cast(a as int(3))
select cast(a as bigint(20))
select interval a day to second
select extract(day a)
select position('a', b)
select position('a' in b, 3)
select convert(a, utf8)
select overlay(a, b, 3, 4)
select floor(a, 2)
select substring(a)
select substring(a for 2)
select trim(a, b)
select trim(from a)
select count(distinct *)
select sum(a) over (order by b rows between 1 preceding and 1 preceding exclude current row)
select sum(a) over (order by b groups between 1 preceding and current row)
select lag(a ignore nulls) over (order by b)
select string_agg(a, ',' order by b)
select group_concat(a order by b separator ',')
select f(a, *)
select f(1, select 1)
select left
select year
select day(a)
select json_object('a', b)
select json_array(select a from t)
select json_array((select a from t))
select row(1,2), row(), (1,2), ()
select case end
select case when a then b
select cursor (select 1)
select a - b day
select a from (t)
select a from (t join u on a = b) as x
select a from (t as x)
select a from t left semi join u on true
select a from t outer join u on true
select a from t cross apply u
select a from t outer apply table(f(a))
select a from t cross apply table(f(a)) as x
select a from t, lateral f(a)
select a from lateral t
select a from table(f(table (select 1)))
select a from t as x for system_time as of ts
select a from t tablesample bernoulli(10) x
select a from values (1)
select a from table t
select a from t group by all
with x as select 1 select 2
select * from t where a in ()
select a from t limit 1 union select 2
select a from t order by a union select 2
select a from ((((t))))
select a from (t, u)
select a from t join u join v on true on true
create table t (a int comment 'c' primary key not enforced)
create table t ()
create table t (a int,)
create table t (a int) partitioned by (a) comment 'x'
create table t (a, b int) as select 1
create external table t (a int)
create system table t (a int)
create table t (a int) with (a = b)
create table t (a int) with ('a' = b)
create table t (a int) with ('a' = 1)
create view v (a, b comment 'x') as select 1
create system function f as 'x'
create system connection c with ('a'='b')
create materialized table m refresh_mode = automatic as select 1
create materialized table if not exists m as select 1
create temporary materialized table m as select 1
alter table t rename column a to b
alter table t add column a int first
alter table t add columns (a int)
alter table t modify column a int comment 'x' first
alter table t drop column a
alter table t drop column a.b
alter table t comment 'x'
alter table t partition (a=1) set ('a'='b')
alter table t compact
alter table t replace columns (a int)
alter table t change a b int
alter view if exists v as select 1
alter view v set ('a'='b')
alter database d rename to e
alter function f as 'x' using jar 'y'
alter materialized table m reset refresh_mode
alter materialized table m reset freshness
alter materialized table m rename to b
insert into t partition (a=1, b) select 1
insert overwrite into t select 1
insert overwrite table t select 1
insert into table t select 1
with x as (select 1) insert into t select * from x
insert t select 1
insert into t default values
delete t
update t as x set x.a = 1
update t set (a, b) = (1, 2)
update t set a = default
merge into t using u on a = b
truncate t
statement set begin insert into t select 1; end
execute statement set begin end
execute statement set begin insert into t select 1 end
compile plan 'x' for select 1
compile and execute plan 'x' if not exists for insert into t select 1
explain plan_advice, foo select 1
explain create table t (a int)
explain estimated_cost for select 1
explain plan with implementation for select 1
explain plan excluding attributes for select 1
explain delete from t
explain update t set a = 1
explain begin statement set
describe table extended t
describe 'x'
show tables ilike 'x'
show create function f
show create database d
show schemas
show foo
use catalog a.b
use catalog 'a'
use modules 'a'
use database d
set a = b
set a = 'b'
set a.b = c
set 'a' = 1
reset a
reset all
load module 'm'
add jar x
add file 'x'
call f
analyze table t
stop job 'x' with drain
drop system connection c
drop temporary materialized table m
drop table t cascade
drop table t, u
drop index i
quit
help
clear
alter table t add if not exists (a int)
