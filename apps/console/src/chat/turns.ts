import { isToolUIPart, type FileUIPart, type UIMessage } from 'ai';
import { slotOf, type Part } from './slot.ts';

/** One who speaks in a message. */
export type Speaker = {
  agentId: string;
  name: string;
  kind: 'agent' | 'node' | 'voice';
  description?: string;
  outcome?: string;
  error?: { message: string };
};

/** What one agent says in a row, and between whom. */
export type Turn = { key: string; speaker: Speaker | undefined; to: string[]; internal: boolean; parts: Part[] };

/** Who speaks: `data-agent` parts introduce them, by the id that their other parts carry. */
function speakersOf(parts: readonly Part[]): Map<string, Speaker> {
  const speakers = new Map<string, Speaker>();
  for (const part of parts) {
    if (part.type !== 'data-agent') continue;
    const speaker = part.data as Speaker;
    speakers.set(speaker.agentId, speaker);
  }
  return speakers;
}

/** The names of those who speak in a message. */
export function speakerNames({ parts }: UIMessage): string[] {
  return parts.flatMap((part) => (part.type === 'data-agent' ? [(part.data as Speaker).name] : []));
}

/**
 * A message as the turns of its speakers. Sources are none: they are shown together, at the end. The parts are copies, since a
 * chat goes on writing into the first object that it shows of an answer: what was drawn would be what it has become.
 */
export function turnsOf({ parts }: UIMessage): Turn[] {
  const speakers = speakersOf(parts);
  const turns: Turn[] = [];
  for (const shown of parts) {
    if (!isShown(shown)) continue;
    const part = { ...shown };
    const { agentId, internal = false, to = [] } = slotOf(part);
    const last = turns.at(-1);
    const isSame =
      last !== undefined &&
      last.speaker?.agentId === agentId &&
      last.internal === internal &&
      last.to.join() === to.join();
    if (isSame) last.parts.push(part);
    else {
      const speaker = agentId === undefined ? undefined : speakers.get(agentId);
      turns.push({ key: `${turns.length}`, speaker, to, internal, parts: [part] });
    }
  }
  return turns;
}

function isShown(part: Part): boolean {
  if (isToolUIPart(part)) return true;
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text !== '' || part.state === 'streaming';
    case 'file':
    case 'data-file':
    case 'data-interjection':
      return true;
    default:
      // What a source of the user's own says beside the text.
      return part.type.startsWith('data-') && !ours.has(part.type);
  }
}

/** Data that is shown in another way, or not at all. */
const ours: ReadonlySet<string> = new Set(['data-agent', 'data-state', 'data-notice', 'data-event']);

export type Source = { id: string; title: string; url?: string };

/** The sources of a message, each once. */
export function sourcesOf({ parts }: UIMessage): Source[] {
  const sources = new Map<string, Source>();
  for (const part of parts) {
    if (part.type === 'source-url') {
      const { sourceId: id, url, title } = part;
      sources.set(url, { id, title: title ?? hostOf(url), ...(isWeb(url) && { url }) });
    } else if (part.type === 'source-document') {
      sources.set(part.sourceId, { id: part.sourceId, title: part.title || part.filename || 'A document' });
    }
  }
  return [...sources.values()];
}

/** The words of a message, to be copied. */
export function textOf({ parts }: UIMessage): string {
  return parts.flatMap((part) => (part.type === 'text' && part.text !== '' ? [part.text] : [])).join('\n\n');
}

/** The files of a message, to be sent again. */
export function filesOf({ parts }: UIMessage): FileUIPart[] {
  return parts.filter((part): part is FileUIPart => part.type === 'file');
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host || url : url;
}

/** A link is followed by a person's click, and never one that runs something. */
export function isWeb(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:', 'mailto:'].includes(new URL(url).protocol);
}
