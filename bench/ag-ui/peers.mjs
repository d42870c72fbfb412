// @ts-check
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { install } from '../../scripts/install.mjs';
import { root } from '../../scripts/workspace.mjs';

/** CopilotKit has hundreds of dependencies, so the installation of the peer tests is used. */
const folder = 'tests/peers/ag-ui-copilotkit';
/** Request that every party answers. */
export const request = { threadId: 'thread-1', runId: 'run-1', messages: [], protocolVersion: '1.0' };

/**
 * @typedef {{ name: string, run: (parts: AsyncIterable<unknown>, onEvent: (event: object) => void) => Promise<unknown> }} Peer calls `onEvent` with each event
 * @returns {Promise<Peer>}
 */
export async function loadCopilotKit() {
  install(folder);
  const require = createRequire(join(root, folder, 'package.json'));
  process.env.COPILOTKIT_TELEMETRY_DISABLED = 'true';
  const { convertAISDKStream } = await import(pathToFileURL(require.resolve('@copilotkit/runtime/v2')).href);
  return {
    name: "CopilotKit's convertAISDKStream",
    async run(parts, onEvent) {
      for await (const event of convertAISDKStream(parts, new AbortController().signal)) onEvent(event);
    },
  };
}
