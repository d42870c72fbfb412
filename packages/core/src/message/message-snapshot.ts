import type { AgentEntry, CanonicalMessage, MessageContent, MessagePart, StepEntry } from '../event/message.ts';
import { readDirectory, type DirectoryVersion } from './versioned-directory.ts';
import { readItems, type ListVersion } from './versioned-list.ts';

/** A message at one moment. Taking a snapshot is O(1); the message is built once, when it is first read. */
export interface MessageSnapshot {
  readonly messageId: string;
  /** Number of events applied to the message. */
  readonly version: number;
  /** Part of the last delta. */
  readonly partId: string | undefined;
  readonly lastDelta: string;
  /** Length of that part's text. Reading the length of a growing string is cheap, reading its end is not. */
  readonly length: number;
  readonly message: CanonicalMessage;
}

export type Envelope = Omit<CanonicalMessage, 'content'>;
/** Fields of the content other than parts and directories. */
export type ContentFields = Omit<MessageContent, 'parts' | 'agents' | 'steps'>;

/** State from which a snapshot builds its message. */
export type Versions = {
  envelope: Envelope;
  fields: ContentFields;
  parts: ListVersion<MessagePart>;
  agents: DirectoryVersion<AgentEntry>;
  steps: DirectoryVersion<StepEntry>;
};

export class Snapshot implements MessageSnapshot {
  readonly messageId: string;
  readonly version: number;
  readonly partId: string | undefined;
  readonly lastDelta: string;
  readonly length: number;
  /** Released once the message is built, because an old version retains all newer ones. */
  #versions: Versions | undefined;
  #message: CanonicalMessage | undefined;

  constructor(version: number, partId: string | undefined, lastDelta: string, length: number, versions: Versions) {
    this.messageId = versions.envelope.id;
    this.version = version;
    this.partId = partId;
    this.lastDelta = lastDelta;
    this.length = length;
    this.#versions = versions;
  }

  get message(): CanonicalMessage {
    if (this.#versions) {
      this.#message = buildMessage(this.#versions);
      this.#versions = undefined;
    }
    return this.#message!;
  }
}

function buildMessage({ envelope, fields, parts, agents, steps }: Versions): CanonicalMessage {
  const { format, runs, ...others } = fields;
  const agentDirectory = readDirectory(agents);
  const stepDirectory = readDirectory(steps);
  return {
    ...envelope,
    content: {
      format,
      parts: readItems(parts),
      ...others,
      ...(agentDirectory && { agents: agentDirectory }),
      ...(stepDirectory && { steps: stepDirectory }),
      ...(runs && { runs }),
    },
  };
}
