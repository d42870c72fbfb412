import { useEffect, type ReactNode } from 'react';
import { IconButton } from '../ui/button.tsx';

/** Above the chat: what it is, and how it is looked at. */
export function ChatBar({
  title,
  isInternalShown,
  isInspectorOpen,
  onInternal,
  onInspector,
  onHelp,
  children,
}: {
  title: string;
  isInternalShown: boolean;
  isInspectorOpen: boolean;
  onInternal: () => void;
  onInspector: () => void;
  onHelp: () => void;
  children?: ReactNode;
}): ReactNode {
  useEffect(() => {
    document.title = title === '' ? 'Intertie' : `${title} · Intertie`;
  }, [title]);
  return (
    <header className="bar chat-bar">
      <h1 className="title">{title}</h1>
      <span className="grow" />
      {children}
      <IconButton
        icon="voices"
        label="What agents say to each other"
        keys="v"
        aria-pressed={isInternalShown}
        onClick={onInternal}
      />
      <IconButton className="wide-only" icon="keyboard" label="Keyboard" keys="?" onClick={onHelp} />
      <IconButton
        className="wide-only"
        icon="inspect"
        label="Inspector"
        keys="i"
        aria-pressed={isInspectorOpen}
        onClick={onInspector}
      />
    </header>
  );
}
