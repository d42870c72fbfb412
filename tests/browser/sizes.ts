import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import type { ConsolePage } from './console-page.ts';

export const sizes = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 768, height: 1024 },
  { width: 390, height: 844 },
] as const;

type Axe = {
  run(context: object, options: object): Promise<{ violations: Array<{ id: string; nodes: Array<{ html: string }> }> }>;
};

/** Runs axe; evaluated in the page. */
export async function audit(): Promise<string[]> {
  const { axe: auditor } = globalThis as unknown as { axe: Axe };
  // On narrow screens the main landmark is in one of three views.
  const rules = { 'landmark-one-main': { enabled: false }, 'page-has-heading-one': { enabled: false } };
  const { violations } = await auditor.run(document, { rules });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

export type View = 'Threads' | 'Chat' | 'Inspect';

/** Shows a column of a narrow screen. */
export async function showView(page: Page, name: View): Promise<void> {
  const button = page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name });
  if (await button.isVisible()) await button.click();
}

/** Checks that the page fits its width and passes axe, in light and dark, and saves screenshots. */
export async function checkAppearance(tab: ConsolePage, name: string): Promise<void> {
  const { page } = tab;
  const width = page.viewportSize()!.width;
  await page.evaluate(axe.source);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), name).toBeLessThanOrEqual(0);
    expect(await page.evaluate(audit), `${name} ${width} ${colorScheme}`).toEqual([]);
    await tab.screenshot(`${name}-${width}-${colorScheme}`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Checks a view at all sizes, in light and dark. `prepare` runs at each size, when the view is shown. */
export async function checkEverySize(
  tab: ConsolePage,
  { name, view }: { name: string; view: View },
  prepare?: () => Promise<void>,
): Promise<void> {
  for (const size of sizes) {
    await tab.page.setViewportSize(size);
    await showView(tab.page, view);
    await prepare?.();
    await checkAppearance(tab, name);
  }
  await tab.page.setViewportSize(sizes[0]);
  await showView(tab.page, 'Chat');
}
