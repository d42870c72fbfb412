import type { ReportedViolation } from '@intertie/conformance';
import type { Loss } from '@intertie/core';
import { Fragment, type ReactNode } from 'react';
import { IconButton } from '../../ui/button.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { useAgentColor } from '../../agents/use-agent-color.ts';
import type { StreamView } from './stream-store.ts';
import { lossKinds } from './loss-report.tsx';
import type { Cell } from './stream-table.ts';

/** Details of a row: related frames, events and target items as JSON, with violations and losses. */
export function StreamDetails(props: {
  view: StreamView;
  cell: Cell;
  targetLabel: string;
  onClose: () => void;
}): ReactNode {
  const { view, cell, targetLabel, onClose } = props;
  const { table, run } = view;
  const getColor = useAgentColor();
  const { frames, events, targets } = table.getRelated(cell);
  const eventIndices = toIndices(events);
  const violations = [
    ...eventIndices.flatMap((index) => table.getViolations({ column: 'event', index })),
    ...toIndices(targets).flatMap((index) => table.getViolations({ column: 'target', index })),
  ];
  const losses = eventIndices.flatMap((index) => table.getLosses(index));
  const agent = eventIndices.map((index) => table.getAgent(index)).find((name) => name !== undefined);
  return (
    <section className="stream-details" aria-label="Row details">
      <header>
        <h2>{formatTitle(cell, targetLabel)}</h2>
        {agent !== undefined && (
          <span className="agent-name" style={{ color: getColor(agent) }}>
            {agent}
          </span>
        )}
        <span className="grow" />
        <IconButton icon="close" label="Close" keys="Esc" onClick={onClose} />
      </header>
      <div className="body">
        <Findings violations={violations} losses={losses} />
        <div className="json-columns">
          {toIndices(frames)
            .flatMap((index) => run.frames[index] ?? [])
            .map(({ index, dialect, frame }) => (
              <Item
                key={`f${index}`}
                name={`Source · ${dialect}`}
                position={`frame ${index}`}
                value={parseData(frame)}
              />
            ))}
          {eventIndices.map((index) => (
            <Item key={`e${index}`} name="Event" position={run.entries[index]?.id ?? ''} value={table.events[index]} />
          ))}
          {toIndices(targets).map((index) => (
            <Item key={`t${index}`} name={targetLabel} position={String(index)} value={table.targets[index]} />
          ))}
        </div>
      </div>
    </section>
  );
}

function Item({ name, position, value }: { name: string; position: string; value: unknown }): ReactNode {
  return (
    <section aria-label={name}>
      <JsonView label={`${name} ${position}`} value={value} />
    </section>
  );
}

function Findings({
  violations,
  losses,
}: {
  violations: readonly ReportedViolation[];
  losses: readonly Loss[];
}): ReactNode {
  if (violations.length + losses.length === 0) return null;
  return (
    <ul className="findings">
      {violations.map((violation, index) => (
        <li key={`v${index}`} className="violation">
          <strong>{violation.rule}</strong> {violation.message}
          <dl>
            <dt>Rule</dt>
            <dd>{violation.sentence}</dd>
            {violation.path !== undefined && (
              <Fragment>
                <dt>Path</dt>
                <dd>
                  <code>{violation.path}</code>
                </dd>
              </Fragment>
            )}
            <dt>Fix</dt>
            <dd>{violation.fix}</dd>
          </dl>
        </li>
      ))}
      {losses.map((loss, index) => (
        <li key={`l${index}`} className="loss">
          <strong title={lossKinds[loss.kind]}>{loss.kind}</strong> {loss.what}: {loss.why}
        </li>
      ))}
    </ul>
  );
}

const toIndices = ([first, last]: readonly [number, number]): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);

function formatTitle({ column, index }: Cell, targetLabel: string): string {
  if (column === 'event') return `Event ${index + 1}`;
  return column === 'frame' ? `Source frame ${index}` : `${targetLabel} ${index}`;
}

/** Parses JSON text in the data of a frame, for readability. */
function parseData(frame: unknown): unknown {
  if (typeof frame !== 'object' || frame === null || !('data' in frame) || typeof frame.data !== 'string') return frame;
  try {
    return { ...frame, data: JSON.parse(frame.data) as unknown };
  } catch {
    return frame;
  }
}
