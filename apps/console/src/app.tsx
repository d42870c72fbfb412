import './ui/ui.css';
import './shell/shell.css';
import './chat/message/messages.css';
import './chat/message/markdown.css';
import './chat/message/cards.css';
import './decisions/decisions.css';
import './chat/message/parts.css';
import './chat/composer/composer.css';
import './welcome/welcome.css';
import './ui/popover.css';
import './threads/threads.css';
import { useMemo, useRef, useState, type ReactNode } from 'react';
import { assignColors } from './agents/agent-color.ts';
import { BottomBar } from './shell/bottom-bar.tsx';
import { ShortcutsHelp } from './shell/shortcuts-help.tsx';
import { noLists, ServerListsContext } from './server-lists.ts';
import { useServer } from './shell/use-server.ts';
import { stepMessage, useShortcuts } from './shell/use-shortcuts.ts';
import { useStoredSetting } from './use-stored-setting.ts';
import { ThreadList } from './threads/thread-list.tsx';
import { ThreadScreen } from './shell/thread-screen.tsx';
import { WelcomeScreen } from './welcome/welcome-screen.tsx';
import { AgentColors } from './agents/use-agent-color.ts';
import { navigate, panes, useLocation } from './use-location.ts';

/** Layout state that both screens share. */
export type Layout = {
  isInspectorOpen: boolean;
  isInternalShown: boolean;
  toggleInspector: () => void;
  toggleInternal: () => void;
  openHelp: () => void;
};

export function App(): ReactNode {
  const { thread, message, view, pane } = useLocation();
  const { server, lists, error } = useServer();
  const [isInspectorOpen, setInspectorOpen] = useStoredSetting<boolean>('inspector-open', true);
  const [isInternalShown, setInternalShown] = useStoredSetting<boolean>('internal-shown', false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [isInbox, setInbox] = useState(false);
  const searchField = useRef<HTMLInputElement>(null);
  const colors = useMemo(() => assignColors(server?.agents.map(({ name }) => name) ?? []), [server]);
  const layout: Layout = {
    isInspectorOpen: isInspectorOpen || view === 'inspect',
    isInternalShown,
    toggleInspector: () => setInspectorOpen(!isInspectorOpen),
    toggleInternal: () => setInternalShown(!isInternalShown),
    openHelp: () => setHelpOpen(true),
  };

  useShortcuts({
    j: () => stepMessage(1),
    k: () => stepMessage(-1),
    '/': () => {
      navigate({ view: 'threads' });
      setInbox(false);
      searchField.current?.focus();
    },
    w: () => {
      navigate({ view: 'threads' });
      setInbox(true);
      // After the list is rendered.
      requestAnimationFrame(() => document.querySelector<HTMLElement>('.inbox a')?.focus());
    },
    f: () => document.querySelector('.scroller')?.scrollTo({ top: Number.MAX_SAFE_INTEGER }),
    n: () => navigate({ thread: undefined, view: 'chat' }),
    c: () => document.querySelector<HTMLElement>('.foot textarea')?.focus(),
    i: layout.toggleInspector,
    v: layout.toggleInternal,
    '?': layout.openHelp,
    ...Object.fromEntries(panes.map((name, index) => [String(index + 1), () => navigate({ pane: name })])),
  });

  return (
    <ServerListsContext value={lists ?? noLists}>
      <AgentColors value={colors}>
        <div className="shell" data-view={view}>
          <ThreadList
            current={thread}
            message={message}
            server={server}
            searchField={searchField}
            isInbox={isInbox}
            onInbox={setInbox}
          />
          {thread === undefined ? (
            <WelcomeScreen server={server} error={error} pane={pane} layout={layout} />
          ) : (
            <ThreadScreen key={thread} threadId={thread} server={server} pane={pane} layout={layout} />
          )}
          <BottomBar view={view} />
          <ShortcutsHelp isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
        </div>
      </AgentColors>
    </ServerListsContext>
  );
}
