import { useEffect, useState, type ReactNode } from 'react';
import { api, messageOf } from '../api.ts';
import { Button } from '../ui/button.tsx';

/** How a message ended that is not complete: an error and what it said, or a stop. */
export function RunFailure({
  runId,
  threadId,
  status,
  onRetry,
}: {
  runId: string | undefined;
  threadId: string;
  status: string | undefined;
  onRetry: (() => void) | undefined;
}): ReactNode {
  const [said, setSaid] = useState<string>();
  useEffect(() => {
    if (status !== 'error' || runId === undefined) return;
    api
      .run(runId, threadId)
      .then(({ outcome }) => setSaid(outcome?.outcome === 'error' ? outcome.error.message : undefined))
      .catch(() => undefined);
  }, [runId, threadId, status]);
  if (status === 'aborted') return <p className="ended">Stopped.</p>;
  if (status !== 'error') return undefined;
  return <Failure text={said ?? 'The run ended with an error.'} onRetry={onRetry} />;
}

export function Failure({ text, onRetry }: { text: unknown; onRetry: (() => void) | undefined }): ReactNode {
  return (
    <div className="failure" role="alert">
      <p>{messageOf(text)}</p>
      {onRetry && (
        <Button icon="retry" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
