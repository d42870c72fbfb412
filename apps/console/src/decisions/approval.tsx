import { useState, type FormEvent, type ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { useAnswer } from './use-answer.ts';

/** Buttons to approve or deny a tool call, with an optional reason. */
export function Approval({ questionId, message }: { questionId: string; message: string | undefined }): ReactNode {
  const { canAnswer, isSending, sent, error, send } = useAnswer();
  const [reason, setReason] = useState('');
  const deny = (event: FormEvent): void => {
    event.preventDefault();
    send({ questionId, approved: false, ...(reason.trim() !== '' && { reason: reason.trim() }) });
  };
  if (sent !== undefined) {
    const isApproved = 'approved' in sent && sent.approved === true;
    return <p className="decided">{isApproved ? 'You approved it.' : 'You denied it.'}</p>;
  }
  if (!canAnswer) return <p className="decided">No decision was made.</p>;
  return (
    <form className="decision" onSubmit={deny}>
      <p>{message ?? 'Allow this tool to run?'}</p>
      <div className="row">
        <Button variant="primary" disabled={isSending} onClick={() => send({ questionId, approved: true })}>
          Approve
        </Button>
        <Button type="submit" disabled={isSending}>
          Deny
        </Button>
        <input
          className="field"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          placeholder="Reason (optional)"
          aria-label="Reason for denial"
        />
      </div>
      <ErrorMessage text={error} />
    </form>
  );
}
