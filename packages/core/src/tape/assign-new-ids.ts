import { capJson } from '../json/cap-json.ts';
import type { Codec } from '../codec/codec.ts';
import type { AgentEvent } from '../event/event.ts';
import { isFields } from '../json/fields.ts';
import type { OnLoss } from '../json/loss.ts';
import { mergeMetadata } from '../event/merge-meta.ts';
import type { MessageContent } from '../event/message.ts';
import { createPartIds } from '../event/part-ids.ts';
import type { RunInput } from '../event/run-input.ts';
import { CANONICAL } from './tape.ts';
import { toFault } from '../event/to-fault.ts';
import { readEvent } from '../event/validate-event.ts';

/** Fields of events and parts that hold an id. Other fields are user data. */
const ID_FIELDS = ['id', 'toolCallId', 'agentId', 'parentAgentId', 'stepId', 'questionId', 'runId'];
const NESTED = ['approval', 'answer'];
const LISTS = ['parts', 'waitingFor'];

type Fields = { [key: string]: unknown };

/**
 * Converts the canonical events of another run to events of this one: it replaces all ids and shifts the times to the start of this
 * run, so that a tape can be played more than once in a thread. Used before the seal, which writes `run-start`.
 */
export function assignNewIds(run: RunInput, onLoss: OnLoss): Codec<unknown, AgentEvent> {
  const ids = createPartIds(run);
  const renewed = new Map<string, string>();
  let shift: number | undefined;

  const renew = (id: string): string => {
    let fresh = renewed.get(id);
    if (fresh === undefined) renewed.set(id, (fresh = ids.next()));
    return fresh;
  };

  const renewFields = <Value extends object>(value: Value): Value => {
    const fields = { ...value } as Fields;
    for (const key of ID_FIELDS) {
      const id = fields[key];
      if (typeof id === 'string') fields[key] = renew(id);
    }
    for (const key of NESTED) {
      const inner = fields[key];
      if (isFields(inner)) fields[key] = renewFields(inner);
    }
    for (const key of LISTS) {
      const list = fields[key];
      if (Array.isArray(list)) fields[key] = list.map((inner) => (isFields(inner) ? renewFields(inner) : inner));
    }
    return fields as Value;
  };

  const renewKeys = <Value extends object>(directory: { [id: string]: Value }): { [id: string]: Value } =>
    Object.fromEntries(Object.entries(directory).map(([id, entry]) => [renew(id), renewFields(entry)]));

  const renewContent = (content: MessageContent): MessageContent => ({
    ...content,
    parts: content.parts.map(renewFields),
    ...(content.agents && { agents: renewKeys(content.agents) }),
    ...(content.steps && { steps: renewKeys(content.steps) }),
    ...(content.runs && { runs: content.runs.map(renewFields) }),
  });

  /** A snapshot holds the complete message, but that of a tape lacks the message that this run continues. */
  const prependBaseline = (content: MessageContent): MessageContent => {
    const before = run.message;
    if (before === undefined) return content;
    return {
      ...content,
      parts: [...before.parts, ...content.parts],
      metadata: { ...mergeMetadata(before.metadata, content.metadata) },
      agents: { ...before.agents, ...content.agents },
      steps: { ...before.steps, ...content.steps },
      runs: [...(before.runs ?? []), ...(content.runs ?? [])],
    };
  };

  /** Drops `origin`, which counts the frames of the recording. */
  const shiftTime = (event: AgentEvent): AgentEvent => {
    const { at, origin, ...rest } = event;
    if (at === undefined) return origin === undefined ? event : rest;
    shift ??= run.startedAt - at;
    return { ...rest, at: at + shift };
  };

  return {
    feed(value, emit) {
      let event: AgentEvent;
      try {
        event = shiftTime(readEvent(value));
      } catch (error) {
        emit({ type: 'raw', dialect: CANONICAL, value: capJson(value, undefined, onLoss) });
        emit({ type: 'notice', level: 'warning', code: 'malformed-event', message: toFault(error).message });
        return;
      }
      // A token of the recorded run means nothing to this one.
      if (event.type === 'run-start' || event.type === 'checkpoint') return;
      if (event.type === 'message-snapshot') emit({ ...event, content: prependBaseline(renewContent(event.content)) });
      else emit(renewFields(event));
    },
    end() {},
  };
}
