import type { AgentEntry, CanonicalMessage, MessageContent, MessagePart, StepEntry } from '../event/message.ts';
import { directoryOf, type DirectoryVersion } from './versioned-directory.ts';
import { itemsOf, type ListVersion } from './versioned-list.ts';

/** A message at one moment. Taking one is O(1); the message itself is built when it is asked for, and once. */
export interface MessageSnapshot {
  readonly messageId: string;
  /** How many events the message is made of. */
  readonly version: number;
  /** The part that the last delta belongs to. */
  readonly partId: string | undefined;
  readonly lastDelta: string;
  /** The length of that part's text so far: reading a growing string's length is cheap, reading its end is not. */
  readonly length: number;
  readonly message: CanonicalMessage;
}

export type Envelope = Omit<CanonicalMessage, 'content'>;
/** What of the content is neither a part nor a directory. */
export type Rest = Omit<MessageContent, 'parts' | 'agents' | 'steps'>;

/** What a snapshot needs to build its message. */
export type Versions = {
  envelope: Envelope;
  rest: Rest;
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
  /** Let go once the message is built: a version keeps all that came after it. */
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
      this.#message = build(this.#versions);
      this.#versions = undefined;
    }
    return this.#message!;
  }
}

function build({ envelope, rest, parts, agents, steps }: Versions): CanonicalMessage {
  const { format, runs, ...others } = rest;
  const agentDirectory = directoryOf(agents);
  const stepDirectory = directoryOf(steps);
  return {
    ...envelope,
    content: {
      format,
      parts: itemsOf(parts),
      ...others,
      ...(agentDirectory && { agents: agentDirectory }),
      ...(stepDirectory && { steps: stepDirectory }),
      ...(runs && { runs }),
    },
  };
}
