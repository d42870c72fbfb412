import { itemFamilies, type ItemFamily } from '@intertie/core/internal';
import type { ReactNode, RefObject } from 'react';
import { useAgentColor } from '../../agents/use-agent-color.ts';
import { Chip } from '../chip.tsx';
import type { RowFilter } from './row-filter.ts';
import { targets } from './target.ts';

/** Contents of each family of events. */
const families: { readonly [Family in ItemFamily]: string } = {
  run: 'Start and end of the run and of its steps',
  agent: 'Start and end of agents, and messages between them',
  text: 'Text of the answer',
  reasoning: 'What the model thought before it answered',
  tool: 'Calls of tools and their results',
  people: 'Questions, approvals and answers',
  data: 'Files, sources and other data',
  notice: 'Notes about the run, such as a recovery',
};

/** Search, filters and target protocol of the streams. */
export function StreamToolbar(props: {
  filter: RowFilter;
  onFilter: (filter: RowFilter) => void;
  agents: readonly string[];
  /** Id of the target. */
  target: string;
  onTarget: (id: string) => void;
  internal: boolean;
  onInternal: (internal: boolean) => void;
  search: RefObject<HTMLInputElement | null>;
}): ReactNode {
  const { filter, onFilter, agents, target, onTarget, internal, onInternal, search } = props;
  const getColor = useAgentColor();
  const set = (change: Partial<RowFilter>): void => onFilter({ ...filter, ...change });
  const toggle = (family: ItemFamily): void => {
    const hidden = new Set(filter.hidden);
    if (!hidden.delete(family)) hidden.add(family);
    set({ hidden });
  };
  return (
    <div className="stream-toolbar" role="toolbar" aria-label="Stream filters">
      <div className="line">
        <input
          ref={search}
          className="field stream-search"
          type="search"
          placeholder="Search events"
          aria-label="Search streams"
          aria-keyshortcuts="/"
          value={filter.search}
          onChange={(event) => set({ search: event.target.value })}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur();
          }}
        />
        {agents.length > 0 && (
          <select
            className="field agent"
            aria-label="Agent"
            value={filter.agent ?? ''}
            style={filter.agent === undefined ? undefined : { color: getColor(filter.agent) }}
            onChange={(event) => set({ agent: event.target.value || undefined })}
          >
            <option value="">All agents</option>
            {agents.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
        <select
          className="field target"
          aria-label="Protocol of the client"
          title="Shows what a client that uses this protocol receives"
          value={target}
          onChange={(event) => onTarget(event.target.value)}
        >
          {targets.map(({ id, label }) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <div className="line chips">
        {itemFamilies.map((family) => (
          <Chip
            key={family}
            isOn={!filter.hidden.has(family)}
            family={family}
            title={families[family]}
            onToggle={() => toggle(family)}
          >
            {family}
          </Chip>
        ))}
        <span className="divider" />
        <Chip
          isOn={filter.isFolded}
          onToggle={() => set({ isFolded: !filter.isFolded, expanded: new Set() })}
          title="Show each text, thought and tool input as one row that grows"
        >
          fold
        </Chip>
        <Chip
          isOn={internal}
          onToggle={() => onInternal(!internal)}
          title="Send messages between agents to the client, too"
        >
          internal
        </Chip>
      </div>
    </div>
  );
}
