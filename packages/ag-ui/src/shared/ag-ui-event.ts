import type { Event, EventType, RunAgentInput } from '@ag-ui/core';

/**
 * `@ag-ui/core` types `type` as an enum member, which no literal is assignable to. Here it is a plain string, so that an event can be
 * written as a literal. Events that we return have the type `Event` of `@ag-ui/core`, which is assignable to this and to `BaseEvent`.
 */
type Plain<E> = E extends { type: EventType }
  ? { [Key in keyof E]: Key extends 'type' ? `${E[Key] & EventType}` : E[Key] }
  : never;

/** One event of AG-UI 1.0. */
export type AGUIEvent = Plain<Event>;
export type AGUIEventType = AGUIEvent['type'];
/** The event of one type, for example `AGUIEventOf<'RUN_FINISHED'>`. */
export type AGUIEventOf<T extends AGUIEventType> = Extract<AGUIEvent, { type: T }>;

/** Run request as clients send it: `tools` and `context` may be absent. */
export type AGUIRunInput = Omit<RunAgentInput, 'tools' | 'context'> & Partial<Pick<RunAgentInput, 'tools' | 'context'>>;
