-- For people who query the tables themselves: a role sees the rows of one scope, the one that it names.
--
--   grant usage on schema intertie to reporting;
--   grant select on all tables in schema intertie to reporting;
--   begin; set local intertie.scope = 'ada'; select … ; commit;
--
-- Without a scope it sees nothing. The owner of the tables, which is whoever has applied the migrations, is not concerned, so
-- a store of that role works as before; a store of another role needs BYPASSRLS. The store itself does not rely on this:
-- every statement of it names its scope.
alter table intertie.threads enable row level security;
create policy of_scope on intertie.threads for select using (scope = current_setting('intertie.scope', true));

alter table intertie.requests enable row level security;
create policy of_scope on intertie.requests for select using (scope = current_setting('intertie.scope', true));

alter table intertie.blobs enable row level security;
create policy of_scope on intertie.blobs for select using (scope = current_setting('intertie.scope', true));

alter table intertie.blob_refs enable row level security;
create policy of_scope on intertie.blob_refs for select using (scope = current_setting('intertie.scope', true));

-- What belongs to a thread or to a run is seen by who sees that.
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

-- These are of no scope, and of nobody's concern but the owner's.
alter table intertie.meta enable row level security;
alter table intertie.processes enable row level security;
