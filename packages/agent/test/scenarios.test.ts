import { describe } from 'vitest';

import { approvals } from './scenarios/approvals.ts';
import { branches } from './scenarios/branches.ts';
import { busy } from './scenarios/busy.ts';
import { endings } from './scenarios/endings.ts';
import { readers } from './scenarios/readers.ts';
import { sources } from './scenarios/sources.ts';
import { stops } from './scenarios/stops.ts';
import { turns } from './scenarios/turns.ts';
import { storeKinds } from './test-stores.ts';

// In one file, because starting a database takes longer than most of these tests.
describe.each(storeKinds)('on %s', (on) => {
  turns(on);
  approvals(on);
  stops(on);
  busy(on);
  readers(on);
  branches(on);
  sources(on);
  endings(on);
});
