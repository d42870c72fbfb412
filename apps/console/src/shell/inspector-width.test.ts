import { expect, it } from 'vitest';
import { computeInspectorWidth } from './inspector-width.ts';

it.each([
  [1920, undefined, 600],
  [1440, undefined, 600],
  [1280, undefined, 540],
  [1024, undefined, 440],
  [1440, 820, 820],
  [1200, 820, 620],
  [700, 820, 440],
])('computes, for a window of %i px and a chosen width of %s, an inspector of %i px', (windowWidth, chosen, width) => {
  expect(computeInspectorWidth(windowWidth, chosen).width).toBe(width);
});
