-- For rows that programs insert with SQL of their own. The store writes both columns, so older code works as before.
alter table intertie.conversation_message alter column id set default gen_random_uuid()::text;
alter table intertie.conversation_message alter column created_at set default now();
