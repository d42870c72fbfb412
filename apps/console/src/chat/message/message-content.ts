import type { FileUIPart, UIMessage } from 'ai';
import { isToolPart } from '../../tool-part.ts';
import { getPartMetadata, type Part } from '../../intertie-metadata.ts';

/** Agent that contributes to a message. */
export type Speaker = {
  agentId: string;
  name: string;
  kind: 'agent' | 'node' | 'voice';
  description?: string;
  outcome?: string;
  error?: { message: string };
};

/** Consecutive parts of a message from the same agent to the same recipients. */
export type AgentSegment = {
  key: string;
  speaker: Speaker | undefined;
  to: string[];
  internal: boolean;
  parts: Part[];
};

/** Indexes the `data-agent` parts, which introduce the agents, by agent id. */
function indexSpeakers(parts: readonly Part[]): Map<string, Speaker> {
  const speakers = new Map<string, Speaker>();
  for (const part of parts) {
    if (part.type !== 'data-agent') continue;
    const speaker = part.data as Speaker;
    speakers.set(speaker.agentId, speaker);
  }
  return speakers;
}

/** Returns the names of the agents in a message. */
export function getSpeakerNames({ parts }: UIMessage): string[] {
  return parts.flatMap((part) => (part.type === 'data-agent' ? [(part.data as Speaker).name] : []));
}

/**
 * Splits a message into segments, one per sequence of parts of the same agent. Omits sources, which are shown together at the end.
 * Copies the parts: `Chat` mutates the first object that it publishes of an answer, which would defeat memoization.
 */
export function splitByAgent({ parts }: UIMessage): AgentSegment[] {
  const speakers = indexSpeakers(parts);
  const segments: AgentSegment[] = [];
  for (const original of parts) {
    if (!isShown(original)) continue;
    const part = { ...original };
    const { agentId, internal = false, to = [] } = getPartMetadata(part);
    const last = segments.at(-1);
    const isSame =
      last !== undefined &&
      last.speaker?.agentId === agentId &&
      last.internal === internal &&
      last.to.join() === to.join();
    if (isSame) last.parts.push(part);
    else {
      const speaker = agentId === undefined ? undefined : speakers.get(agentId);
      segments.push({ key: `${segments.length}`, speaker, to, internal, parts: [part] });
    }
  }
  return segments;
}

function isShown(part: Part): boolean {
  if (isToolPart(part)) return true;
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text !== '' || part.state === 'streaming';
    case 'file':
    case 'data-file':
    case 'data-interjection':
      return true;
    default:
      // Data parts that the user's own source emits.
      return part.type.startsWith('data-') && !ownDataTypes.has(part.type);
  }
}

/** Intertie's data parts, which are shown elsewhere or not at all. */
const ownDataTypes: ReadonlySet<string> = new Set(['data-agent', 'data-state', 'data-notice', 'data-event']);

export type Source = { id: string; title: string; url?: string };

/** Returns the distinct sources of a message. */
export function getSources({ parts }: UIMessage): Source[] {
  const sources = new Map<string, Source>();
  for (const part of parts) {
    if (part.type === 'source-url') {
      const { sourceId: id, url, title } = part;
      sources.set(url, { id, title: title ?? getHost(url), ...(isWebUrl(url) && { url }) });
    } else if (part.type === 'source-document') {
      sources.set(part.sourceId, { id: part.sourceId, title: part.title || part.filename || 'Document' });
    }
  }
  return [...sources.values()];
}

/** Joins the text parts of a message. */
export function getText({ parts }: UIMessage): string {
  return parts.flatMap((part) => (part.type === 'text' && part.text !== '' ? [part.text] : [])).join('\n\n');
}

/** Returns the file parts of a message. */
export function getFiles({ parts }: UIMessage): FileUIPart[] {
  return parts.filter((part): part is FileUIPart => part.type === 'file');
}

function getHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host || url : url;
}

/** Whether a URL is safe as a link target; excludes `javascript:` and the like. */
export function isWebUrl(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:', 'mailto:'].includes(new URL(url).protocol);
}
