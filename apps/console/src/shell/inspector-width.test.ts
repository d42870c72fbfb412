import { expect, it } from 'vitest';
import { inspectorWidth } from './inspector-width.ts';

it.each([
  [1920, undefined, 600],
  [1440, undefined, 600],
  [1280, undefined, 540],
  [1024, undefined, 320],
  [1440, 820, 820],
  [1200, 820, 640],
  [700, 820, 320],
])('the inspector in a window of %i, chosen %s, is %i wide', (room, chosen, width) => {
  expect(inspectorWidth(room, chosen).width).toBe(width);
});
