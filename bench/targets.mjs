// @ts-check

/**
 * What is asked of a row, found by `name | peer`: that much of the peer's speed at the least. The first that fits counts. A
 * door that is iterated is asked to be no slower than another that is, so nothing is asked of it beside events that are pushed
 * at whoever listens, without the promise for each that an iteration is: those are shown, and iterated they are a row as well.
 * A save is asked to be three times as fast where the server is a millisecond away, because that is what its one round trip is for.
 * @type {ReadonlyArray<{ suite: string, row: RegExp, atLeast?: number }>}
 */
export const targets = [
  { suite: 'ai-sdk', row: /^check /, atLeast: 10 },
  { suite: 'ai-sdk', row: /^bytes → checked chunks/, atLeast: 5 },
  { suite: 'ai-sdk', row: /\| streamText\(\)/, atLeast: 1 },
  { suite: 'mail', row: /\| eventsource-parser/, atLeast: 0.5 },
  // There it is `streamText` that is measured, and nobody can be told from another.
  { suite: 'ag-ui', row: /on streamText/ },
  { suite: 'ag-ui', row: /\| a loop that only reads/, atLeast: 0.5 },
  { suite: 'ag-ui', row: /^(codecs alone|bytes)/, atLeast: 2 },
  { suite: 'ag-ui', row: /\| (VoltAgent's (?!.*iterated)|a generator that hands)/ },
  { suite: 'ag-ui', row: /./, atLeast: 1 },
  { suite: 'postgres', row: /^save .*1 ms each way \| @mastra/, atLeast: 3 },
  { suite: 'postgres', row: /^last 50 .*includeTotal: false/, atLeast: 1 },
  { suite: 'postgres', row: /^all of /, atLeast: 20 },
  { suite: 'agent', row: /\| streamText\(\)/, atLeast: 0.8 },
];
