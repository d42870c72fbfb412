import type { UIMessage } from 'ai';
import type { ReactNode } from 'react';
import type { Branches } from '../api.ts';
import { IconButton } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { getText } from './message/message-content.ts';

export type MessageActionsProps = {
  message: UIMessage;
  branch: Branches[string] | undefined;
  isBusy: boolean;
  onBranch: (messageId: string) => void;
  onEdit?: () => void;
  onRegenerate?: () => void;
  onInspect?: () => void;
};

/** Buttons of a message, shown on hover and focus. */
export function MessageActions(props: MessageActionsProps): ReactNode {
  const { message, branch, isBusy, onBranch, onEdit, onRegenerate, onInspect } = props;
  const text = getText(message);
  return (
    <div className="actions" data-branched={branch !== undefined || undefined}>
      {branch && <BranchArrows branch={branch} isBusy={isBusy} onBranch={onBranch} />}
      {text !== '' && <CopyButton text={text} label="Copy" />}
      {onEdit && <IconButton icon="edit" label="Edit" disabled={isBusy} onClick={onEdit} />}
      {onRegenerate && <IconButton icon="retry" label="Regenerate" disabled={isBusy} onClick={onRegenerate} />}
      {onInspect && <IconButton icon="inspect" label="Inspect this run" onClick={onInspect} />}
    </div>
  );
}

function BranchArrows({
  branch: { siblings, index },
  isBusy,
  onBranch,
}: {
  branch: Branches[string];
  isBusy: boolean;
  onBranch: (messageId: string) => void;
}): ReactNode {
  const before = siblings[index - 1];
  const after = siblings[index + 1];
  return (
    <span className="branches">
      <IconButton
        icon="back"
        label="Previous version"
        disabled={isBusy || before === undefined}
        onClick={() => before !== undefined && onBranch(before)}
      />
      <span aria-label={`Version ${index + 1} of ${siblings.length}`}>
        {index + 1}/{siblings.length}
      </span>
      <IconButton
        icon="chevron"
        label="Next version"
        disabled={isBusy || after === undefined}
        onClick={() => after !== undefined && onBranch(after)}
      />
    </span>
  );
}
