-- The call that transferred a run to its process, so that the call can be repeated after a lost reply. Null if the run went
-- live in the call that created it. Older code leaves it null and does not read it.
alter table intertie.run_live add column claim text;
