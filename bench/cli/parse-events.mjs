// @ts-check
// The minimum of a tool that reads a piped stream: bytes to events, and events to JSON values. It interprets none.
import { createParser } from 'eventsource-parser';

const parser = createParser({ onEvent: ({ data }) => void JSON.parse(data) });
const decoder = new TextDecoder();
for await (const bytes of process.stdin) parser.feed(decoder.decode(bytes, { stream: true }));
