import type { UIMessage } from 'ai';
import { memo, useState, type ReactNode } from 'react';
import type { Branches } from '../api.ts';
import { ErrorBoundary } from '../ui/error-boundary.tsx';
import { Composer } from './composer/composer.tsx';
import { MessageActions } from './message-actions.tsx';
import { MessageView } from './message/message-view.tsx';
import { RunFailure } from './message/run-failure.tsx';
import { getMessageMetadata } from '../intertie-metadata.ts';
import type { ThreadSession } from './session/thread-session.ts';
import { getFiles, getText } from './message/message-content.ts';

export type MessageRowProps = {
  session: ThreadSession;
  message: UIMessage;
  author: string | undefined;
  branch: Branches[string] | undefined;
  isLast: boolean;
  /** This message is being streamed. */
  isLive: boolean;
  /** Some message is being streamed. */
  isBusy: boolean;
  /** Read-only, because the chat is scrubbed to an earlier state. */
  isPast: boolean;
  /** The chat shows the error below the messages. */
  hasFailureBelow: boolean;
  onInspect: (runId: string) => void;
  onEdited: () => void;
};

/** Message with its actions. Memoized: while another message streams, none of its props change. */
export const MessageRow = memo(function Row(props: MessageRowProps): ReactNode {
  const { session, message, author, branch, isLast, isLive, isBusy, isPast, hasFailureBelow, onInspect, onEdited } =
    props;
  const [isEditing, setEditing] = useState(false);
  const { runId, status } = getMessageMetadata(message);
  const isAnswer = message.role === 'assistant';
  const isSettled = !isLive && !isPast;
  if (isEditing) {
    return (
      <div className="message user editing">
        <Composer
          label="Edit your message"
          initial={{ text: getText(message), files: getFiles(message) }}
          isBusy={isBusy}
          onCancel={() => setEditing(false)}
          onSend={(draft) => {
            setEditing(false);
            session.edit(message.id, draft);
            onEdited();
          }}
        />
      </div>
    );
  }
  return (
    <ErrorBoundary resetKey={message}>
      <MessageView message={message} author={author} isLive={isLive}>
        {isAnswer && isSettled && !hasFailureBelow && (
          <RunFailure
            runId={runId}
            threadId={session.threadId}
            status={status}
            onRetry={isLast && !isBusy ? () => session.regenerate(message.id) : undefined}
          />
        )}
        {isSettled && (
          <MessageActions
            message={message}
            branch={branch}
            isBusy={isBusy}
            onBranch={(id) => void session.showBranch(id)}
            {...(message.role === 'user' && { onEdit: () => setEditing(true) })}
            {...(isAnswer && { onRegenerate: () => session.regenerate(message.id) })}
            {...(isAnswer && runId !== undefined && { onInspect: () => onInspect(runId) })}
          />
        )}
      </MessageView>
    </ErrorBoundary>
  );
});
