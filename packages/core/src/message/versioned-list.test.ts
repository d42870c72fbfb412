import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readItems, VersionedList, type ListVersion } from './versioned-list.ts';

it('reads every version as it was at its snapshot', () => {
  const change = fc.oneof(
    fc.record({ do: fc.constant('push' as const), value: fc.nat() }),
    fc.record({ do: fc.constant('set' as const), value: fc.nat(), at: fc.nat() }),
    fc.record({ do: fc.constant('reset' as const), value: fc.array(fc.nat(), { maxLength: 4 }) }),
    fc.constant({ do: 'snapshot' as const }),
  );
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const list = new VersionedList<number>();
      let model: number[] = [];
      const snapshots: Array<[ListVersion<number>, number[]]> = [];
      for (const step of changes) {
        if (step.do === 'push') {
          list.push(step.value);
          model = [...model, step.value];
        } else if (step.do === 'set' && model.length > 0) {
          const index = step.at % model.length;
          list.set(index, step.value);
          model = model.with(index, step.value);
        } else if (step.do === 'reset') {
          list.reset([...step.value]);
          model = step.value;
        } else snapshots.push([list.snapshot(), model]);
      }
      snapshots.push([list.snapshot(), model]);
      for (const [version, expected] of snapshots) expect(readItems(version)).toEqual(expected);
    }),
  );
});
