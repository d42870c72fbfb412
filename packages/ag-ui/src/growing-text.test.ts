import { expect, it } from 'vitest';
import { growingText } from './growing-text.ts';

it('says all of its words in order, however many, also when it is asked in between', () => {
  const text = growingText();
  let expected = '';
  expect(text.toString()).toBe(expected);
  for (const count of [1, 255, 1, 256, 1000]) {
    for (let n = 0; n < count; n += 1) {
      text.add(`${n} `);
      expected += `${n} `;
    }
    expect(text.toString()).toBe(expected);
  }
});
