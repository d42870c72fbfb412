import type { JsonObject } from '@intertie/core';

/** Frame of a MAIL server with parsed data. */
export type MailFrame = { event: string; data: JsonObject };
export type MailSender = { type: 'agent' | 'system' | 'user'; name: string };
export type MailMessageType = 'request' | 'response' | 'broadcast_complete';

/** Builds the frames of one task. */
export class MailFrames {
  #task: string;
  #run: string;
  #time = new Date(0).toISOString();
  #messages = 0;

  constructor(task: string, run: string, startedAt: number) {
    this.#task = task;
    this.#run = run;
    this.setTime(startedAt);
  }

  setTime(at: number): void {
    const date = new Date(at);
    // Times come from a source and may be out of the range of a date.
    if (!Number.isNaN(date.getTime())) this.#time = date.toISOString();
  }

  log(event: string, description: string, extra: JsonObject): MailFrame {
    return { event, data: { timestamp: this.#time, description, task_id: this.#task, extra_data: extra } };
  }

  message(from: MailSender, to: readonly string[], body: string, type: MailMessageType): MailFrame {
    this.#messages += 1;
    const id = `${this.#run}:${this.#messages}`;
    const agents = to.map((address) => ({ address_type: 'agent', address }));
    const isFinal = type === 'broadcast_complete';
    const message = {
      task_id: this.#task,
      [isFinal ? 'broadcast_id' : 'request_id']: id,
      sender: { address_type: from.type, address: from.name },
      ...(isFinal ? { recipients: agents } : { recipient: agents[0] ?? null }),
      subject: isFinal ? '::task_complete::' : 'Message',
      body,
      sender_swarm: null,
      routing_info: {},
    };
    const lead = isFinal ? `task_complete response from ${from.name}` : 'sending message';
    const description = `${lead}:\n\n<incoming_message>\n<body>${body}</body>\n</incoming_message>\n`;
    return this.log('new_message', description, {
      full_message: { id, timestamp: this.#time, message, msg_type: type },
    });
  }

  /** Builds the final frame of a stream, which has only a response. */
  final(event: string, response: string): MailFrame {
    return { event, data: { timestamp: this.#time, task_id: this.#task, response } };
  }
}
