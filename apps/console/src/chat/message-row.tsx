import type { UIMessage } from 'ai';
import { memo, useState, type ReactNode } from 'react';
import type { Branches } from '../api.ts';
import { Guard } from '../ui/guard.tsx';
import { Composer } from './composer.tsx';
import { MessageActions } from './message-actions.tsx';
import { MessageView } from './message-view.tsx';
import { RunFailure } from './run-failure.tsx';
import { messageSlotOf } from './slot.ts';
import type { ThreadSession } from './thread-session.ts';
import { filesOf, textOf } from './turns.ts';

export type MessageRowProps = {
  session: ThreadSession;
  message: UIMessage;
  author: string | undefined;
  branch: Branches[string] | undefined;
  isLast: boolean;
  /** It is being written. */
  isLive: boolean;
  /** Something is being written. */
  isBusy: boolean;
  /** Only to be looked at: the chat shows how it was. */
  isPast: boolean;
  /** The chat says below what went wrong. */
  hasFailureBelow: boolean;
  onInspect: (runId: string) => void;
  onEdited: () => void;
};

/** A message with what can be done with it. While another one grows, it is not drawn again: all it is given stays the same. */
export const MessageRow = memo(function Row(props: MessageRowProps): ReactNode {
  const { session, message, author, branch, isLast, isLive, isBusy, isPast, hasFailureBelow, onInspect, onEdited } =
    props;
  const [isEditing, setEditing] = useState(false);
  const { runId, status } = messageSlotOf(message);
  const isAnswer = message.role === 'assistant';
  const isSettled = !isLive && !isPast;
  if (isEditing) {
    return (
      <div className="message user editing">
        <Composer
          label="Edit your message"
          initial={{ text: textOf(message), files: filesOf(message) }}
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
    <Guard news={message}>
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
    </Guard>
  );
});
