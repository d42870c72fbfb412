import type { Json } from '@intertie/core';
import type { DynamicToolUIPart, ToolUIPart } from 'ai';
import type { ReactNode } from 'react';
import { getAnswerMetadata } from '../intertie-metadata.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { Approval } from './approval.tsx';
import { SchemaForm } from './schema-form.tsx';
import { useAnswer, useAnswerer } from './use-answer.ts';

type QuestionInput = { kind?: string; message?: string; reason?: string; schema?: Json };

/** Question that does not belong to a tool call, for example from a swarm or a breakpoint of a flow. */
export function QuestionCard({
  questionId,
  part,
}: {
  questionId: string;
  part: ToolUIPart | DynamicToolUIPart;
}): ReactNode {
  const { kind, message, reason, schema } = (part.input ?? {}) as QuestionInput;
  const isOpen = part.state === 'input-available' || part.state === 'input-streaming';
  return (
    <section
      role="group"
      className="card question"
      data-open={isOpen || undefined}
      aria-label={`Question: ${message ?? reason ?? ''}`}
    >
      <header>
        <Icon name="question" />
        <strong>{message ?? reason ?? 'Waiting for an answer'}</strong>
        {isOpen && (
          <span className="state" data-state="approval-requested">
            waiting for you
          </span>
        )}
      </header>
      {message !== undefined && reason !== undefined && <p className="decided">{reason}</p>}
      {isOpen && kind === 'approval' && <Approval questionId={questionId} message="Continue?" />}
      {isOpen && kind !== 'approval' && <AnswerForm questionId={questionId} schema={schema} />}
      {part.state === 'output-available' && <GivenAnswer questionId={questionId} part={part} output={part.output} />}
      {part.state === 'output-error' && <p className="decided">{part.errorText}</p>}
    </section>
  );
}

function GivenAnswer({
  questionId,
  part,
  output,
}: {
  questionId: string;
  part: ToolUIPart | DynamicToolUIPart;
  output: unknown;
}): ReactNode {
  const { approved, reason } = getAnswerMetadata(part);
  const by = useAnswerer(questionId);
  const suffix = by === undefined ? '' : ` by ${by}`;
  if (approved !== undefined) {
    return (
      <p className="decided">
        {approved ? `Approved${suffix}.` : `Denied${suffix}${reason === undefined ? '.' : `: ${reason}`}`}
      </p>
    );
  }
  if (typeof output !== 'string') return <JsonView label={`Answer${suffix}`} value={output} />;
  return (
    <p className="decided">
      Answered{suffix}: <b>{output}</b>
    </p>
  );
}

function AnswerForm({ questionId, schema }: { questionId: string; schema: Json | undefined }): ReactNode {
  const { canAnswer, isSending, sent, error, send } = useAnswer();
  if (sent !== undefined) return <p className="decided">{'cancelled' in sent ? 'Cancelled.' : 'Answered.'}</p>;
  if (!canAnswer) return <p className="decided">Not answered.</p>;
  return (
    <div className="decision">
      <SchemaForm
        schema={schema}
        submitLabel="Answer"
        isDisabled={isSending}
        onSubmit={(value) => send({ questionId, value })}
      >
        <Button variant="quiet" disabled={isSending} onClick={() => send({ questionId, cancelled: true })}>
          Cancel
        </Button>
      </SchemaForm>
      <ErrorMessage text={error} />
    </div>
  );
}
