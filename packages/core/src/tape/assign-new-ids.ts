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

/** Where events and parts hold an id of their own kind. What lies in other fields is somebody's data. */
const ID_FIELDS = ['id', 'toolCallId', 'agentId', 'parentAgentId', 'stepId', 'questionId', 'runId'];
const NESTED = ['approval', 'answer'];
const LISTS = ['parts', 'waitingFor'];

type Fields = { [key: string]: unknown };

/**
 * Canonical events of another run as events of this one: every id is minted anew, and the times are moved to where this run
 * starts. So the same tape may be played twice in one thread. Goes before the seal, which writes `run-start` itself.
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

  /** A snapshot restates the message, of which the tape knows only its own part. */
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

  /** The frames that `origin` counts were those of the recording. */
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
      if (event.type === 'run-start') return;
      if (event.type === 'message-snapshot') emit({ ...event, content: prependBaseline(renewContent(event.content)) });
      else emit(renewFields(event));
    },
    end() {},
  };
}
