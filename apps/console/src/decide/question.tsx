import type { Json } from '@intertie/core';
import type { DynamicToolUIPart, ToolUIPart } from 'ai';
import type { ReactNode } from 'react';
import { answerSlotOf } from '../chat/slot.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { Problem } from '../ui/problem.tsx';
import { Approval } from './approval.tsx';
import { SchemaForm } from './schema-form.tsx';
import { useAnswer } from './use-answer.ts';

type Asked = { kind?: string; message?: string; reason?: string; schema?: Json };

/** A question about no call: a swarm asks back, a flow waits at a breakpoint. */
export function QuestionCard({
  questionId,
  part,
}: {
  questionId: string;
  part: ToolUIPart | DynamicToolUIPart;
}): ReactNode {
  const { kind, message, reason, schema } = (part.input ?? {}) as Asked;
  const isOpen = part.state === 'input-available' || part.state === 'input-streaming';
  return (
    <section
      className="card question"
      data-open={isOpen || undefined}
      aria-label={`Question: ${message ?? reason ?? ''}`}
    >
      <header>
        <Icon name="question" />
        <strong>{message ?? reason ?? 'It waits for an answer.'}</strong>
        {message !== undefined && reason !== undefined && <span className="state">{reason}</span>}
      </header>
      {isOpen && kind === 'approval' && <Approval questionId={questionId} message="Go on?" />}
      {isOpen && kind !== 'approval' && <Reply questionId={questionId} schema={schema} />}
      {part.state === 'output-available' && <Given part={part} output={part.output} />}
      {part.state === 'output-error' && <p className="decided">{part.errorText}</p>}
    </section>
  );
}

function Given({ part, output }: { part: ToolUIPart | DynamicToolUIPart; output: unknown }): ReactNode {
  const { approved, reason } = answerSlotOf(part);
  if (approved !== undefined) {
    return <p className="decided">{approved ? 'Approved.' : `Denied${reason === undefined ? '.' : `: ${reason}`}`}</p>;
  }
  return typeof output === 'string' ? <p className="decided">{output}</p> : <JsonView label="Answer" value={output} />;
}

function Reply({ questionId, schema }: { questionId: string; schema: Json | undefined }): ReactNode {
  const { canAnswer, isSending, given, complaint, give } = useAnswer();
  if (given !== undefined) return <p className="decided">{'cancelled' in given ? 'Cancelled.' : 'Answered.'}</p>;
  if (!canAnswer) return <p className="decided">It was not answered.</p>;
  return (
    <div className="decision">
      <SchemaForm
        schema={schema}
        submitLabel="Answer"
        isDisabled={isSending}
        onSubmit={(value) => give({ questionId, value })}
      >
        <Button look="quiet" disabled={isSending} onClick={() => give({ questionId, cancelled: true })}>
          Cancel
        </Button>
      </SchemaForm>
      <Problem text={complaint} />
    </div>
  );
}
