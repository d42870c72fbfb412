import type { ReactNode } from 'react';
import { useWaiting } from '../threads/use-waiting.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { navigate, type View } from '../use-location.ts';

const items: ReadonlyArray<{ view: View; label: string; icon: IconName }> = [
  { view: 'threads', label: 'Threads', icon: 'threads' },
  { view: 'chat', label: 'Chat', icon: 'chat' },
  { view: 'inspect', label: 'Inspect', icon: 'inspect' },
];

/** Navigation on narrow screens, where the three columns are separate views. */
export function BottomBar({ view }: { view: View }): ReactNode {
  const { count } = useWaiting();
  return (
    <nav className="bottom-bar" aria-label="Views">
      {items.map((item) => (
        <button
          key={item.view}
          type="button"
          aria-current={item.view === view ? 'page' : undefined}
          onClick={() => navigate({ view: item.view })}
        >
          <Icon name={item.icon} size={20} />
          {item.label}
          {item.view === 'threads' && count > 0 && (
            <span className="badge" aria-label={`${count} waiting for you`}>
              {count}
            </span>
          )}
        </button>
      ))}
    </nav>
  );
}
