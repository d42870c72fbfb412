import { useEffect, useState, type ReactNode } from 'react';
import { api, formatError } from '../../api.ts';
import { Button } from '../../ui/button.tsx';

/** Shows why an answer is incomplete: the error of its run, or that it was stopped. */
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
  const [message, setMessage] = useState<string>();
  useEffect(() => {
    if (status !== 'error' || runId === undefined) return;
    api
      .run(runId, threadId)
      .then(({ outcome }) => setMessage(outcome?.outcome === 'error' ? outcome.error.message : undefined))
      .catch(() => undefined);
  }, [runId, threadId, status]);
  if (status === 'aborted') return <p className="ended">Stopped.</p>;
  if (status !== 'error') return undefined;
  return <Failure text={message ?? 'The run ended with an error.'} onRetry={onRetry} />;
}

export function Failure({ text, onRetry }: { text: unknown; onRetry: (() => void) | undefined }): ReactNode {
  return (
    <div className="failure" role="alert">
      <p>{formatError(text)}</p>
      {onRetry && (
        <Button icon="retry" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
