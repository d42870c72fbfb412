import { useEffect, type ReactNode } from 'react';
import { useWaiting } from '../threads/use-waiting.ts';
import { IconButton } from '../ui/button.tsx';

/** Header of the chat: title and view options. Also sets the title of the page. */
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
  const { count } = useWaiting();
  useEffect(() => {
    const name = title === '' ? 'Intertie' : `${title} · Intertie`;
    document.title = count === 0 ? name : `(${count}) ${name}`;
  }, [title, count]);
  return (
    <header className="bar chat-bar">
      {title !== '' && <h1 className="title">{title}</h1>}
      <span className="grow" />
      {children}
      <IconButton
        icon="agents"
        label="Messages between agents"
        keys="v"
        aria-pressed={isInternalShown}
        onClick={onInternal}
      />
      <IconButton className="wide-only" icon="keyboard" label="Keyboard shortcuts" keys="?" onClick={onHelp} />
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
