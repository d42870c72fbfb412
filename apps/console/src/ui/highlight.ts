import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import type { ReactNode } from 'react';
import { createElement } from 'react';

const lowlight = createLowlight({
  bash,
  c,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
});
lowlight.registerAlias({ bash: ['shell', 'console', 'zsh'], c: ['cpp', 'h'], xml: ['vue', 'svelte'] });

type Nodes = ReturnType<typeof lowlight.highlight>['children'];

/** Returns the code with its tokens as elements, or the plain text if the language is unknown. */
export function highlight(code: string, language: string): ReactNode {
  if (!lowlight.registered(language)) return code;
  return toElements(lowlight.highlight(language, code).children);
}

function toElements(nodes: Nodes): ReactNode[] {
  return nodes.map((node, index) => {
    if (node.type === 'text') return node.value;
    if (node.type !== 'element') return undefined;
    const { className } = node.properties;
    const name = Array.isArray(className) ? className.join(' ') : undefined;
    return createElement('span', { key: index, className: name }, ...toElements(node.children as Nodes));
  });
}
