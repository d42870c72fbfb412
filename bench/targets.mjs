// @ts-check

/**
 * Required ratio to the peer's speed for rows whose `name | peer` matches; the first match counts. A save must be three times
 * as fast on a server that is a millisecond away, because it needs a single round trip.
 * @type {ReadonlyArray<{ suite: string, row: RegExp, atLeast?: number }>}
 */
export const targets = [
  { suite: 'ai-sdk', row: /^check /, atLeast: 10 },
  { suite: 'ai-sdk', row: /^bytes → checked chunks/, atLeast: 5 },
  { suite: 'ai-sdk', row: /\| streamText\(\)/, atLeast: 1 },
  { suite: 'mail', row: /\| eventsource-parser/, atLeast: 0.5 },
  { suite: 'ag-ui', row: /on streamText/, atLeast: 0.85 },
  { suite: 'ag-ui', row: /^codecs alone/, atLeast: 5 },
  // Reading a list of parts costs nothing, unlike reading a model: recorded without a target.
  { suite: 'ag-ui', row: /./ },
  { suite: 'postgres', row: /^save .*1 ms each way \| @mastra/, atLeast: 3 },
  { suite: 'postgres', row: /^last 50 .*includeTotal: false/, atLeast: 1 },
  { suite: 'postgres', row: /^all of /, atLeast: 20 },
  // A commit costs a few percent of the time that a model needs.
  { suite: 'end-to-end', row: /model that takes 200 ms.*\| plain route/, atLeast: 0.95 },
  { suite: 'agent', row: /\| streamText\(\)/, atLeast: 0.8 },
];
