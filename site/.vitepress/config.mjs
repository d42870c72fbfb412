// @ts-check
import { readFileSync } from 'node:fs';

import { navigation, sidebar } from './navigation.mjs';

const { version } = JSON.parse(readFileSync(new URL('../../packages/server/package.json', import.meta.url), 'utf8'));

// An older version is published below a path of its own, for example /0.1.0/.
const base = process.env.SITE_BASE || '/';
const versions = process.env.SITE_VERSIONS?.split(',') ?? [version];

/** Fields that `VersionSwitch` reads. */
const ownTheme = { version, versions };

/** @type {import('vitepress').UserConfig<import('vitepress').DefaultTheme.Config>} */
export default {
  title: 'Intertie',
  description: 'Connects any agent to any chat client, and stores every run.',
  lang: 'en',
  base,
  srcDir: '.intertie/pages',
  outDir: `dist${base}`,
  cacheDir: '.intertie/cache',
  cleanUrls: false,
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon())}` }]],
  markdown: {
    // The ids that code hosts give to headings, so that a link works in both places.
    anchor: {
      slugify: (text) =>
        text
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
          .replaceAll(/\s/g, '-'),
    },
    config(md) {
      const fence = md.renderer.rules.fence;
      if (fence === undefined) throw new Error('markdown-it has no rule for code blocks.');
      // Shows the title of a code block (```ts title=main.ts) above it.
      md.renderer.rules.fence = (tokens, index, ...rest) => {
        const title = /\btitle=(\S+)/.exec(tokens[index]?.info ?? '')?.[1];
        const name = title?.includes('.') ? `<p class="file-name">${md.utils.escapeHtml(title)}</p>` : '';
        return name + fence(tokens, index, ...rest);
      };
    },
  },
  themeConfig: {
    ...ownTheme,
    // The list of versions replaces the link.
    nav: versions.length > 1 ? navigation : [...navigation, { text: `v${version}`, link: '/packages/server' }],
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
    docFooter: { prev: false, next: false },
  },
};

function icon() {
  return '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#3b82f6" stroke-width="3"><path d="M3 6h7l4 12h7M3 18h7l1-3M13 9l1-3h7"/></svg>';
}
