import type { LatestRunPage, LatestRunState, ListLatestRuns } from '../registry.ts';
import { StoreError } from '../store-error.ts';
import { toRunRecord } from './run-row.ts';
import type { RunRow, ThreadRow } from './tables.ts';

export function listLatestRuns(threads: readonly ThreadRow[], query: ListLatestRuns = {}): LatestRunPage {
  const { threadId, agent, states, since, limit = 50, cursor } = query;
  const matching = threads
    .filter(({ id }) => threadId === undefined || id === threadId)
    .flatMap(({ runs }) => Array.from(runs.values()))
    .filter((run) => !run.continuation && (agent === undefined || run.agent === agent))
    .filter((run) => states?.includes(getState(run)) ?? true)
    .filter((run) => since === undefined || getChangedAt(run) >= since.getTime())
    .toSorted(compare);
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const rest = after ? matching.filter((run) => isAfter(run, after)) : matching;
  const page = rest.slice(0, limit);
  const last = rest.length > limit ? page.at(-1) : undefined;
  return {
    runs: page.map((run) => ({
      run: toRunRecord(run),
      state: getState(run),
      changedAt: new Date(getChangedAt(run)),
    })),
    total: matching.length,
    ...(last && { cursor: `${getChangedAt(last)}:${last.serial}` }),
  };
}

type Position = { changedAt: number; serial: number };

const compare = (a: RunRow, b: RunRow): number => getChangedAt(b) - getChangedAt(a) || b.serial - a.serial;

function isAfter(run: RunRow, { changedAt, serial }: Position): boolean {
  return getChangedAt(run) < changedAt || (getChangedAt(run) === changedAt && run.serial < serial);
}

function getChangedAt({ endedAt, startedAt, createdAt }: RunRow): number {
  return endedAt ?? startedAt ?? createdAt;
}

function getState({ state, live, decisions }: RunRow): LatestRunState {
  const hasOpen = [...decisions.values()].some((decision) => decision.state === 'open');
  return live?.waiting || (state === 'paused' && hasOpen) ? 'waiting' : state;
}

function readCursor(cursor: string): Position {
  const [, changedAt, serial] = /^(\d{1,16}):(\d{1,16})$/.exec(cursor) ?? [];
  if (changedAt !== undefined && serial !== undefined) return { changedAt: Number(changedAt), serial: Number(serial) };
  const text = `"${cursor}" is not a cursor of listLatestRuns. Pass the cursor of the previous page.`;
  throw new StoreError('invalid', text);
}
