import type { Json } from '@intertie/core';
import { getToolName, type DynamicToolUIPart, type ToolUIPart } from 'ai';
import { useState, type ReactNode } from 'react';
import { Approval } from '../decide/approval.tsx';
import { ClientTool } from '../decide/client-tool.tsx';
import { QuestionCard } from '../decide/question.tsx';
import { Icon } from '../ui/icon.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { questionIdOf, slotOf } from './slot.ts';

type ToolPart = ToolUIPart | DynamicToolUIPart;

const states: Readonly<Record<string, string>> = {
  'input-streaming': 'writing input',
  'input-available': 'running',
  'approval-requested': 'needs approval',
  'output-available': 'done',
  'output-error': 'failed',
  'output-denied': 'denied',
};

/** A call: what it is asked, what came of it, and before that, if need be, what a person has to say. */
export function ToolCard({ part }: { part: ToolPart }): ReactNode {
  const questionId = questionIdOf(part.toolCallId);
  if (questionId !== undefined) return <QuestionCard questionId={questionId} part={part} />;
  return <Call part={part} />;
}

function Call({ part }: { part: ToolPart }): ReactNode {
  const { state, input, toolCallId } = part;
  const isClients = state === 'input-available' && slotOf(part).executor === 'client';
  const isWaiting = state === 'approval-requested' || isClients;
  const question = isClients ? questionIn(input) : undefined;
  const isOpenBySelf = (isWaiting && question === undefined) || state === 'output-error';
  const [isOpen, setOpen] = useState<boolean>();
  const name = getToolName(part);
  const summary = summaryOf(input);
  return (
    <section className="card tool" data-state={state} data-open={isWaiting || undefined} aria-label={`Tool ${name}`}>
      <details className="fold" open={isOpen ?? isOpenBySelf}>
        <summary
          onClick={(event) => {
            event.preventDefault();
            setOpen(!(isOpen ?? isOpenBySelf));
          }}
        >
          <Icon name="chevron" />
          <code className="name">{name}</code>
          {summary !== '' && <code className="gist">{summary}</code>}
          <span className="state" data-state={state}>
            {isClients ? 'waits for you' : stateOf(part)}
          </span>
        </summary>
        {input !== undefined && input !== null && <JsonView label="Input" value={input} />}
        {state === 'output-available' && (
          <JsonView label={part.preliminary === true ? 'Output so far' : 'Output'} value={part.output} />
        )}
        {state === 'output-error' && <p className="problem">{part.errorText}</p>}
        {state === 'output-denied' && <p className="decided">{denialOf(part) ?? 'It was denied.'}</p>}
      </details>
      {state === 'approval-requested' && <Approval questionId={part.approval.id} message={messageOf(part.approval)} />}
      {isClients && <ClientTool toolCallId={toolCallId} schema={outputSchemaOf(part)} question={question} />}
    </section>
  );
}

function stateOf(part: ToolPart): string | undefined {
  if (part.state !== 'approval-responded') return states[part.state];
  return part.approval.approved ? 'approved' : 'denied';
}

/** A tool that asks a person puts its question into words. */
function questionIn(input: unknown): string | undefined {
  const { question, prompt, message } = (input ?? {}) as { question?: unknown; prompt?: unknown; message?: unknown };
  return [question, prompt, message].find((text): text is string => typeof text === 'string');
}

/** The input on one line, as far as it fits. */
function summaryOf(input: unknown): string {
  if (typeof input === 'string') return input.slice(0, 120);
  if (typeof input !== 'object' || input === null) return '';
  const entries = Object.entries(input).map(
    ([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return entries.join(', ').slice(0, 120);
}

/** Why it was denied. Its approval is there in the types, and not always in the stream of ai 6. */
function denialOf(part: ToolPart): string | undefined {
  return (part as { approval?: { reason?: string } }).approval?.reason;
}

/** What the question says, where it says more than the AI SDK has a field for. */
function messageOf(approval: object): string | undefined {
  const { descriptor } = approval as { descriptor?: { intertie?: { message?: unknown; reason?: unknown } } };
  const said = descriptor?.intertie?.message ?? descriptor?.intertie?.reason;
  return typeof said === 'string' ? said : undefined;
}

/** A client's tool may say what its result looks like. */
function outputSchemaOf(part: ToolPart): Json | undefined {
  const { toolMetadata } = part as { toolMetadata?: { outputSchema?: Json } };
  return toolMetadata?.outputSchema;
}
