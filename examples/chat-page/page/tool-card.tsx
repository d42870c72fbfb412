import type { DynamicToolUIPart, ToolUIPart } from 'ai';
import { getToolName } from 'ai';
import { useState, type FormEvent, type ReactNode } from 'react';

export type Answer = (answer: { id: string; approved: boolean; reason?: string }) => void;

const states: Readonly<Record<string, string>> = {
  'input-streaming': 'receiving input',
  'input-available': 'running',
  'approval-requested': 'needs approval',
  'approval-responded': 'continuing',
  'output-available': 'done',
  'output-error': 'failed',
  'output-denied': 'denied',
};

/** Shows a tool call with its input, its result, and an approval if needed. */
export function ToolCard({ part, onAnswer }: { part: ToolUIPart | DynamicToolUIPart; onAnswer: Answer }): ReactNode {
  const { state, input } = part;
  return (
    <section className="tool" data-state={state} aria-label={`Tool ${getToolName(part)}`}>
      <header>
        <code>{getToolName(part)}</code>
        <span className="state">{states[state]}</span>
      </header>
      {input !== undefined && <Json label="Input" value={input} />}
      {state === 'output-available' && <Json label="Output" value={part.output} />}
      {state === 'output-error' && <p role="alert">{part.errorText}</p>}
      {state === 'output-denied' && part.approval.reason && <p>“{part.approval.reason}”</p>}
      {state === 'approval-requested' && <Approval approval={part.approval} onAnswer={onAnswer} />}
    </section>
  );
}

function Json({ label, value }: { label: string; value: unknown }): ReactNode {
  return (
    <dl>
      <dt>{label}</dt>
      <dd>
        <code>{JSON.stringify(value)}</code>
      </dd>
    </dl>
  );
}

function Approval({
  approval,
  onAnswer,
}: {
  approval: { id: string; descriptor?: unknown };
  onAnswer: Answer;
}): ReactNode {
  const [reason, setReason] = useState('');
  const { id } = approval;
  const deny = (event: FormEvent): void => {
    event.preventDefault();
    onAnswer({ id, approved: false, ...(reason.trim() !== '' && { reason: reason.trim() }) });
  };
  return (
    <form className="approval" onSubmit={deny}>
      <p>{getMessage(approval.descriptor) ?? 'Allow this call?'}</p>
      <div className="row">
        <button type="button" className="primary" onClick={() => onAnswer({ id, approved: true })}>
          Allow
        </button>
        <button type="submit">Deny</button>
        <input
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          placeholder="reason"
          aria-label="Reason"
        />
      </div>
    </form>
  );
}

/** Returns the text of the question, which the AI SDK has no field for. */
function getMessage(descriptor: unknown): string | undefined {
  const { intertie } = (descriptor ?? {}) as { intertie?: { message?: unknown } };
  return typeof intertie?.message === 'string' ? intertie.message : undefined;
}
