-- For roles that query the tables directly: a role sees only the rows of the scope in the setting intertie.scope.
--
--   grant usage on schema intertie to reporting;
--   grant select on all tables in schema intertie to reporting;
--   begin; set local intertie.scope = 'ada'; select … ; commit;
--
-- Without a scope it sees no rows. The policies do not apply to the owner of the tables (the role that applied the
-- migrations), so a store of that role is not affected; a store of another role needs BYPASSRLS. The store does not rely on
-- the policies: each of its statements names the scope.
alter table intertie.threads enable row level security;
create policy of_scope on intertie.threads for select using (scope = current_setting('intertie.scope', true));

alter table intertie.requests enable row level security;
create policy of_scope on intertie.requests for select using (scope = current_setting('intertie.scope', true));

alter table intertie.blobs enable row level security;
create policy of_scope on intertie.blobs for select using (scope = current_setting('intertie.scope', true));

alter table intertie.blob_refs enable row level security;
create policy of_scope on intertie.blob_refs for select using (scope = current_setting('intertie.scope', true));

-- Rows of a thread or a run are visible if that thread or run is visible.
alter table intertie.conversation_message enable row level security;
create policy of_scope on intertie.conversation_message for select using (thread_id in (select id from intertie.threads));

alter table intertie.runs enable row level security;
create policy of_scope on intertie.runs for select using (thread_id in (select id from intertie.threads));

alter table intertie.run_live enable row level security;
create policy of_scope on intertie.run_live for select using (thread_id in (select id from intertie.threads));

alter table intertie.decisions enable row level security;
create policy of_scope on intertie.decisions for select using (thread_id in (select id from intertie.threads));

alter table intertie.run_events enable row level security;
create policy of_scope on intertie.run_events for select using (run_id in (select id from intertie.runs));

-- Tables without a scope are visible to the owner only.
alter table intertie.meta enable row level security;
alter table intertie.processes enable row level security;
