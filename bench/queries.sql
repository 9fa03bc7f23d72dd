-- The queries of bench/run over the tables orders and customers: a name, and below it the query on one line.

-- count(*) of the join
select count(*) from orders join customers using (customer_id)
-- count(*), sum(float8)
select count(*), sum(score) from orders join customers using (customer_id)
-- sum(numeric) by country
select country, sum(amount) from orders join customers using (customer_id) group by country order by country
-- five max() over the join
select max(amount), max(status), max(country), max(age), max(order_date) from orders join customers using (customer_id)
-- GROUP BY key, counted again
select count(*), sum(n) from (select customer_id, count(*) n from orders group by customer_id) g
