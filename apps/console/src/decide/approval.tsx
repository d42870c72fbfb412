import { useState, type FormEvent, type ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { Problem } from '../ui/problem.tsx';
import { useAnswer } from './use-answer.ts';

/** May it run? Yes, or no and why. */
export function Approval({ questionId, message }: { questionId: string; message: string | undefined }): ReactNode {
  const { canAnswer, isSending, given, complaint, give } = useAnswer();
  const [reason, setReason] = useState('');
  const deny = (event: FormEvent): void => {
    event.preventDefault();
    give({ questionId, approved: false, ...(reason.trim() !== '' && { reason: reason.trim() }) });
  };
  if (given !== undefined) {
    const isGranted = 'approved' in given && given.approved === true;
    return <p className="decided">{isGranted ? 'You approved it.' : 'You denied it.'}</p>;
  }
  if (!canAnswer) return <p className="decided">It was not decided.</p>;
  return (
    <form className="decision" onSubmit={deny}>
      <p>{message ?? 'May it run?'}</p>
      <div className="row">
        <Button look="primary" disabled={isSending} onClick={() => give({ questionId, approved: true })}>
          Approve
        </Button>
        <Button type="submit" disabled={isSending}>
          Deny
        </Button>
        <input
          className="field"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          placeholder="Why not? (optional)"
          aria-label="Reason to deny"
        />
      </div>
      <Problem text={complaint} />
    </form>
  );
}
