create table numbers(n integer primary key, square integer, text text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000)
    insert into numbers select x, x * x, printf('%08x', x * 7919) from c;
create index by_text on numbers(text);
select count(*), sum(square), min(text), max(text) from numbers;
select n, text from numbers where text like '%beef%' order by text;
select n % 7 as class, count(*), avg(square) from numbers group by class;
drop table numbers;
vacuum;
