-- Clients that send whole histories without ids are found by `branch_key`; threads of single calls are `hidden` in lists and deleted
-- with their logs. Code before this migration would list and keep them, and is otherwise compatible.
alter table intertie.runs add column branch_key text;
create index runs_branch on intertie.runs (branch_key, agent, serial) where branch_key is not null;
alter table intertie.threads add column hidden boolean not null default false;
create index threads_hidden on intertie.threads (updated_at) where hidden;
