// @ts-check
// The least that a tool does with a stream that is piped into it: events from bytes, values from events. It understands none.
import { createParser } from 'eventsource-parser';

const parser = createParser({ onEvent: ({ data }) => void JSON.parse(data) });
const decoder = new TextDecoder();
for await (const bytes of process.stdin) parser.feed(decoder.decode(bytes, { stream: true }));
