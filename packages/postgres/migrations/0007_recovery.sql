-- A run whose process dies is continued by another process. `attempts` counts its executions; `released_at` is set while a
-- run that its process handed over has no owner. Code before this migration does not know the event `checkpoint`.
alter table intertie.run_live add column attempts integer not null default 1;
alter table intertie.run_live add column released_at timestamptz;
update intertie.meta set value = '7' where key = 'min_code';
