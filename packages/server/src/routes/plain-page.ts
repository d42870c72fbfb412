import type { Host } from '../host/host.ts';

/** What a browser is shown where the console has not been built. */
export function plainPage({ agents, defaultAgent }: Host): string {
  const items = [...agents.values()].map(({ name, definition }) => {
    const text = `${definition.kind}${name === defaultAgent.name ? ', the default' : ''}`;
    return `<li><b>${escapeHtml(name)}</b> (${text}): <code>/api/agents/${escapeHtml(name)}/chat</code>, <code>/api/agents/${escapeHtml(name)}/ag-ui</code></li>`;
  });
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Intertie</title>
<style>body{font:16px/1.5 system-ui;max-width:46rem;margin:3rem auto;padding:0 1rem}code{background:#8882;padding:0 .2em}</style>
<h1>Intertie is running</h1>
<p>The console is not built here. In a clone, <code>npm start</code> builds it.</p>
<h2>Agents</h2>
<ul>${items.join('')}</ul>
<h2>What there is</h2>
<p><a href="/api/agents">agents</a> · <a href="/api/threads">threads</a> · <a href="/api/questions">questions</a> ·
<a href="/api/openapi.json">all routes (OpenAPI)</a> · <a href="/health">health</a> · <a href="/metrics">metrics</a></p>
</html>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
