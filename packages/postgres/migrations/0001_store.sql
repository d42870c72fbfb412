-- Installation metadata: `schema` (the last migration), `min_code` (the oldest migration that running code must know),
-- `event_format_write` (the event format that writers use).
create table intertie.meta (
  key text not null,
  value text not null,
  constraint meta_pkey primary key (key)
);

-- Lease of each process, by the clock of the database. A process owns its live runs until the lease expires.
create table intertie.processes (
  id text not null,
  lease_until timestamptz not null,
  started_at timestamptz not null default now(),
  info json,
  constraint processes_pkey primary key (id)
);

-- A conversation. Its row is also the lock for everything in the thread.
create table intertie.threads (
  id uuid not null,
  scope text not null,
  key text not null,
  resource_id text,
  title text,
  metadata json,
  next_seq bigint not null default 0,
  version bigint not null default 0,
  head_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint threads_pkey primary key (id),
  constraint threads_scope_key unique (scope, key),
  constraint threads_ids check (octet_length(scope) between 1 and 256 and octet_length(key) between 1 and 256)
);
create index threads_list on intertie.threads (scope, updated_at desc, key);
create index threads_resource on intertie.threads (scope, resource_id, updated_at desc, key)
  where resource_id is not null;

-- `content` is json, not jsonb, to preserve every byte, including NUL and lone surrogates. There is no foreign key to the
-- parent, because it would lock the parent's row for every child.
create table intertie.conversation_message (
  thread_id uuid not null,
  id text not null,
  client_id text,
  seq bigint not null,
  parent_id text,
  role text not null,
  type text not null,
  status text not null,
  resource_id text,
  run_id uuid,
  client_run_id text,
  format smallint not null default 2,
  content json not null,
  state json,
  source_state json,
  extra json,
  revision integer not null default 0,
  version bigint not null,
  created_at timestamptz not null,
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  constraint conversation_message_pkey primary key (thread_id, id),
  constraint conversation_message_seq unique (thread_id, seq),
  constraint conversation_message_thread foreign key (thread_id) references intertie.threads (id) on delete cascade,
  constraint conversation_message_id check (octet_length(id) between 1 and 256),
  constraint conversation_message_status check (status in ('streaming', 'complete', 'paused', 'aborted', 'error'))
);
create index conversation_message_children on intertie.conversation_message (thread_id, parent_id, seq);
create index conversation_message_changes on intertie.conversation_message (thread_id, version, seq);
create index conversation_message_client on intertie.conversation_message (thread_id, client_id)
  where client_id is not null;

-- A run, written when it starts and when it ends. `serial` orders the runs of a thread by creation.
create table intertie.runs (
  id uuid not null,
  serial bigint generated always as identity,
  thread_id uuid not null,
  message_id text not null,
  agent text not null,
  resumes uuid,
  client_run_id text not null,
  state text not null,
  input json,
  outcome json,
  usage json,
  last_epoch integer,
  last_seq bigint,
  created_by text,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  log_dropped_at timestamptz,
  constraint runs_pkey primary key (id),
  constraint runs_resumes unique (resumes),
  constraint runs_client_run_id unique (thread_id, client_run_id),
  constraint runs_thread foreign key (thread_id) references intertie.threads (id) on delete cascade,
  constraint runs_resumed foreign key (resumes) references intertie.runs (id) on delete set null,
  constraint runs_state check (state in ('queued', 'running', 'complete', 'paused', 'aborted', 'error'))
);
create index runs_order on intertie.runs (thread_id, serial);
create index runs_message on intertie.runs (thread_id, message_id);
create index runs_name on intertie.runs (client_run_id, serial);
create index runs_queue on intertie.runs (thread_id, serial) where state = 'queued';
create index runs_prune on intertie.runs (ended_at) where ended_at is not null and log_dropped_at is null;

-- A live run. The row exists only while a process owns the run. It is narrow, and no indexed column changes, so that a flush
-- is a HOT update.
create table intertie.run_live (
  run_id uuid not null,
  thread_id uuid not null,
  process text not null,
  epoch integer not null default 1,
  next_seq bigint not null default 1,
  waiting boolean not null default false,
  stop_requested_at timestamptz,
  stop_reason text,
  constraint run_live_pkey primary key (run_id),
  constraint run_live_thread unique (thread_id),
  constraint run_live_run foreign key (run_id) references intertie.runs (id) on delete cascade
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- The run log. A row holds the events (last_seq - n, last_seq] as a JSON array. No foreign key, so an append locks no run.
create table intertie.run_events (
  run_id uuid not null,
  last_seq bigint not null,
  n integer not null,
  epoch integer not null,
  v smallint not null,
  at timestamptz not null default now(),
  body text not null,
  constraint run_events_pkey primary key (run_id, last_seq),
  constraint run_events_n check (n > 0)
) with (autovacuum_vacuum_scale_factor = 0.02);

-- Decisions that runs wait for. Each is answered once. `position` is the order in which a run asked them.
create table intertie.decisions (
  run_id uuid not null,
  id text not null,
  position integer not null,
  thread_id uuid not null,
  message_id text not null,
  kind text not null,
  tool_call_id text,
  request json not null,
  state text not null default 'open',
  answer json,
  answered_by text,
  answered_at timestamptz,
  expires_at timestamptz,
  constraint decisions_pkey primary key (run_id, id),
  constraint decisions_run foreign key (run_id) references intertie.runs (id) on delete cascade,
  constraint decisions_kind check (kind in ('approval', 'client-tool', 'input')),
  constraint decisions_state check (state in ('open', 'answered', 'cancelled', 'expired'))
);
create index decisions_thread on intertie.decisions (thread_id);
create index decisions_open on intertie.decisions (thread_id, message_id) where state = 'open';
create index decisions_expiry on intertie.decisions (expires_at) where state = 'open' and expires_at is not null;

-- Idempotency keys of runs, and of saves (run_id is null). Valid for a day, or until a thread of the save is deleted.
create table intertie.requests (
  scope text not null,
  key text not null,
  hash text not null,
  run_id uuid,
  thread_ids uuid[] not null default '{}',
  created_at timestamptz not null default now(),
  constraint requests_pkey primary key (scope, key),
  constraint requests_run foreign key (run_id) references intertie.runs (id) on delete cascade
);
create index requests_run_id on intertie.requests (run_id) where run_id is not null;
create index requests_threads on intertie.requests using gin (thread_ids) where run_id is null;
create index requests_age on intertie.requests (created_at);

-- Files by scope and hash. The scope is part of the key, because knowing a hash grants no access. Stored without compression,
-- so that a range can be read.
create table intertie.blobs (
  scope text not null,
  sha256 bytea not null,
  size bigint not null,
  media_type text,
  data bytea,
  url text,
  touched_at timestamptz not null default now(),
  constraint blobs_pkey primary key (scope, sha256),
  constraint blobs_place check (data is not null or url is not null)
);
alter table intertie.blobs alter column data set storage external;
create index blobs_age on intertie.blobs (touched_at);

create table intertie.blob_refs (
  thread_id uuid not null,
  message_id text not null,
  scope text not null,
  sha256 bytea not null,
  constraint blob_refs_pkey primary key (thread_id, message_id, sha256),
  constraint blob_refs_message foreign key (thread_id, message_id)
    references intertie.conversation_message (thread_id, id) on delete cascade,
  constraint blob_refs_blob foreign key (scope, sha256) references intertie.blobs (scope, sha256)
);
create index blob_refs_by_blob on intertie.blob_refs (scope, sha256);

insert into intertie.meta (key, value) values ('min_code', '1'), ('event_format_write', '1');
