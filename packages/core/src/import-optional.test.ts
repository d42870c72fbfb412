import { expect, it } from 'vitest';

import { importOptional } from './import-optional.ts';

const notInstalled = '@intertie/not-installed';

it('names the package to install and the alternative if an optional package is missing', async () => {
  const load = (): Promise<unknown> => import(notInstalled);
  await expect(importOptional(load, { name: notInstalled, title: 'It', instead: 'set IT_URL' })).rejects.toMatchObject({
    code: 'missing-package',
    message: 'It is not installed. Run `npm install @intertie/not-installed`, or set IT_URL.',
  });
  await expect(importOptional(load, { name: notInstalled })).rejects.toThrow(
    '@intertie/not-installed is not installed. Run `npm install @intertie/not-installed`.',
  );
});

it('reports the error of an installed package that does not load', async () => {
  const load = (): Promise<unknown> => import(notInstalled);
  await expect(importOptional(load, { name: 'installed' })).rejects.not.toHaveProperty('code', 'missing-package');
  const broken = new Error('It does not start.');
  await expect(importOptional(() => Promise.reject(broken), { name: notInstalled })).rejects.toBe(broken);
});
