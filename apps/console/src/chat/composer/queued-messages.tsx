import type { ReactNode } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import type { Draft, ThreadSession } from '../session/thread-session.ts';

/** Messages that wait for the end of the current answer. */
export function QueuedMessages({
  session,
  queued,
  isBusy,
}: {
  session: ThreadSession;
  queued: readonly Draft[];
  isBusy: boolean;
}): ReactNode {
  if (queued.length === 0) return undefined;
  return (
    <ol className="queued" aria-label="Queued messages">
      {queued.map(({ text, files }, index) => (
        <li key={index}>
          <span className="tag">queued</span>
          <span className="text">{text || `${files.length} files`}</span>
          {index === 0 && !isBusy && (
            <Button variant="quiet" onClick={() => session.sendQueued()}>
              Send now
            </Button>
          )}
          <IconButton icon="close" label="Remove queued message" onClick={() => session.dequeue(index)} />
        </li>
      ))}
    </ol>
  );
}
