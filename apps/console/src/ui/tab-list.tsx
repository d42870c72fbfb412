import { useRef, type KeyboardEvent, type ReactNode } from 'react';

export type Tab<Id extends string> = { id: Id; label: string; title: string };

/** Tabs that follow the ARIA practices: one Tab stop, arrow keys between tabs. The panel of a tab has the id `panel-<id>`. */
export function TabList<Id extends string>({
  label,
  tabs,
  active,
  onChange,
}: {
  label: string;
  tabs: ReadonlyArray<Tab<Id>>;
  active: Id;
  onChange: (id: Id) => void;
}): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = tabs.findIndex(({ id }) => id === active);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length]!;
    onChange(next.id);
    list.current?.querySelector<HTMLElement>(`#tab-${next.id}`)?.focus();
  };
  return (
    <div ref={list} className="tab-list" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map(({ id, label: name, title }) => (
        <button
          key={id}
          id={`tab-${id}`}
          type="button"
          role="tab"
          className="tab"
          title={title}
          aria-selected={id === active}
          aria-controls={`panel-${id}`}
          tabIndex={id === active ? 0 : -1}
          onClick={() => onChange(id)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
