import type { Json } from '@intertie/core';
import { getToolName, type ToolPart } from '../../tool-part.ts';
import { useState, type ReactNode } from 'react';
import { Approval } from '../../decisions/approval.tsx';
import { ClientTool } from '../../decisions/client-tool.tsx';
import { findChoices, findQuestion, summarizeInput } from '../../decisions/describe-decision.ts';
import { useAnswerer } from '../../decisions/use-answer.ts';
import { QuestionCard } from '../../decisions/question.tsx';
import { Icon } from '../../ui/icon.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { parseQuestionId, getPartMetadata } from '../../intertie-metadata.ts';

const states: Readonly<Record<string, string>> = {
  'input-streaming': 'writing input',
  'input-available': 'running',
  'approval-requested': 'needs approval',
  'output-available': 'done',
  'output-error': 'failed',
  'output-denied': 'denied',
};

/** Tool call with its input, its output and, if it needs one, a form for the user's decision. */
export function ToolCard({ part }: { part: ToolPart }): ReactNode {
  const questionId = parseQuestionId(part.toolCallId);
  if (questionId !== undefined) return <QuestionCard questionId={questionId} part={part} />;
  const question = getPartMetadata(part).executor === 'client' ? findQuestion(part.input) : undefined;
  return question === undefined ? <Call part={part} /> : <AskedQuestion part={part} question={question} />;
}

/** Call of a tool that asks the user, shown as a question. Its input is in the details. */
function AskedQuestion({ part, question }: { part: ToolPart; question: string }): ReactNode {
  const { state, toolCallId, input } = part;
  const by = useAnswerer(toolCallId);
  const isWaiting = state === 'input-available';
  return (
    <section
      role="group"
      className="card question"
      data-open={isWaiting || undefined}
      aria-label={`Question: ${question}`}
    >
      <header>
        <Icon name="question" />
        <strong>{question}</strong>
        {isWaiting && (
          <span className="state" data-state="approval-requested">
            waiting for you
          </span>
        )}
      </header>
      {isWaiting && (
        <ClientTool
          toolCallId={toolCallId}
          schema={getOutputSchema(part)}
          question={question}
          choices={findChoices(input)}
        />
      )}
      {state === 'output-available' && (
        <div className="decided">
          {by === undefined ? 'Answered:' : `Answered by ${by}:`}{' '}
          {typeof part.output === 'string' ? <b>{part.output}</b> : <JsonView label="Answer" value={part.output} />}
        </div>
      )}
      {state === 'output-error' && <p className="decided">{part.errorText}</p>}
      <details className="fold asked-by">
        <summary>
          <Icon name="chevron" />
          Asked with the tool <code>{getToolName(part)}</code>
        </summary>
        <JsonView label="Input" value={input} />
      </details>
    </section>
  );
}

function Call({ part }: { part: ToolPart }): ReactNode {
  const { state, input, toolCallId } = part;
  const isClientTool = state === 'input-available' && getPartMetadata(part).executor === 'client';
  const isWaiting = state === 'approval-requested' || isClientTool;
  const isInitiallyOpen = isWaiting || state === 'output-error';
  const [isOpen, setOpen] = useState<boolean>();
  const name = getToolName(part);
  const summary = summarizeInput(input);
  return (
    <section
      role="group"
      className="card tool"
      data-state={state}
      data-open={isWaiting || undefined}
      aria-label={`Tool ${name}`}
    >
      <details className="fold" open={isOpen ?? isInitiallyOpen}>
        <summary
          onClick={(event) => {
            event.preventDefault();
            setOpen(!(isOpen ?? isInitiallyOpen));
          }}
        >
          <Icon name="chevron" />
          <code className="name">{name}</code>
          {summary !== '' && <code className="gist">{summary}</code>}
          <span className="state" data-state={isClientTool ? 'approval-requested' : state}>
            {isClientTool ? 'waiting for you' : getStateLabel(part)}
          </span>
        </summary>
        {input !== undefined && input !== null && <JsonView label="Input" value={input} />}
        {state === 'output-available' && (
          <JsonView label={part.preliminary === true ? 'Output so far' : 'Output'} value={part.output} />
        )}
        {state === 'output-error' && <p className="problem">{part.errorText}</p>}
        {state === 'output-denied' && <p className="decided">{getDenialReason(part) ?? 'Denied.'}</p>}
      </details>
      <Decided part={part} />
      {state === 'approval-requested' && (
        <Approval questionId={part.approval.id} message={getApprovalMessage(part.approval)} />
      )}
      {isClientTool && <ClientTool toolCallId={toolCallId} schema={getOutputSchema(part)} question={undefined} />}
    </section>
  );
}

/** Names the user who decided on a call. */
function Decided({ part }: { part: ToolPart }): ReactNode {
  const by = useAnswerer(getApprovalId(part) ?? part.toolCallId);
  if (by === undefined || part.state === 'approval-requested') return undefined;
  const { approval } = part as { approval?: { approved?: boolean } };
  const isDenied = part.state === 'output-denied' || approval?.approved === false;
  const verb = getApprovalId(part) === undefined ? 'Submitted' : isDenied ? 'Denied' : 'Approved';
  return <p className="decided">{`${verb} by ${by}.`}</p>;
}

function getApprovalId(part: ToolPart): string | undefined {
  return (part as { approval?: { id?: string } }).approval?.id;
}

function getStateLabel(part: ToolPart): string | undefined {
  if (part.state !== 'approval-responded') return states[part.state];
  return part.approval.approved ? 'approved' : 'denied';
}

/** Returns the reason of a denial. The types require `approval`, but streams of ai 6 may omit it. */
function getDenialReason(part: ToolPart): string | undefined {
  return (part as { approval?: { reason?: string } }).approval?.reason;
}

/** Returns the message of an approval question, which Intertie adds as metadata. */
function getApprovalMessage(approval: object): string | undefined {
  const { descriptor } = approval as { descriptor?: { intertie?: { message?: unknown; reason?: unknown } } };
  const message = descriptor?.intertie?.message ?? descriptor?.intertie?.reason;
  return typeof message === 'string' ? message : undefined;
}

/** Returns the schema of a client tool's result, if the tool declares one. */
function getOutputSchema(part: ToolPart): Json | undefined {
  const { toolMetadata } = part as { toolMetadata?: { outputSchema?: Json } };
  return toolMetadata?.outputSchema;
}
