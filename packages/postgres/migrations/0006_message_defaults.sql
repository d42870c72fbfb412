-- Defaults for rows that programs insert with their own SQL. The store writes both columns, so older code is not affected.
alter table intertie.conversation_message alter column id set default gen_random_uuid()::text;
alter table intertie.conversation_message alter column created_at set default now();
