// @ts-check
// The same small program for every place that the packages run in: Node, a browser, a worker. It returns plain JSON, so that
// the places can be compared.
import * as conformance from '@intertie/conformance';
import * as core from '@intertie/core';

const { compose, transcode } = core;

export function smoke() {
  /** @type {core.Codec<core.AgentEvent, string>} */
  const text = {
    feed: (event, emit) => void (event.type === 'text-delta' && emit(event.delta)),
    end: (end, emit) => emit(`(${end.reason})`),
  };
  /** @type {core.Codec<string, string>} */
  const loud = { feed: (delta, emit) => emit(delta.toUpperCase()), end: () => {} };
  const said = transcode(compose(text, loud), [
    { type: 'text-start', id: 'r1:1' },
    { type: 'text-delta', id: 'r1:1', delta: 'Grüße, ' },
    { type: 'text-delta', id: 'r1:1', delta: '世界 🌍' },
    { type: 'text-end', id: 'r1:1' },
  ]).join('');
  if (said !== 'GRÜSSE, 世界 🌍(EOF)') throw new Error(`transcode said ${said}`);

  return {
    exports: { core: Object.keys(core).toSorted(), conformance: Object.keys(conformance).toSorted() },
    said,
  };
}
