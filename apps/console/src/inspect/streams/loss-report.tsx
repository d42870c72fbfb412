import type { Loss } from '@intertie/core';
import type { ReactNode } from 'react';
import { IconButton } from '../../ui/button.tsx';
import type { StreamTable } from './stream-table.ts';

/** Explanation of each kind of loss. */
export const lossKinds: { readonly [Kind in Loss['kind']]: string } = {
  unsupported: 'The protocol has no place for it',
  withheld: 'Left out on purpose, for example a message between agents',
  late: 'Arrived after its message or part had ended',
  repaired: 'Broke a rule of the protocol, and was changed to follow it',
};

/** Table of the losses: information that the target protocol cannot carry or that was withheld, with the reason. */
export function LossReport(props: {
  table: StreamTable;
  targetLabel: string;
  onEvent: (event: number) => void;
  onClose: () => void;
}): ReactNode {
  const { table, targetLabel, onEvent, onClose } = props;
  return (
    <section className="stream-details" aria-label="Left out or changed">
      <header>
        <h2>Left out or changed</h2>
        <span className="note">for clients that use {targetLabel}</span>
        <span className="grow" />
        <IconButton icon="close" label="Close" keys="Esc" onClick={onClose} />
      </header>
      <div className="body">
        {table.losses.length === 0 ? (
          <p className="empty">Nothing was left out or changed.</p>
        ) : (
          <table className="losses">
            <thead>
              <tr>
                <th scope="col">Event</th>
                <th scope="col">Kind</th>
                <th scope="col">Item</th>
                <th scope="col">Reason</th>
              </tr>
            </thead>
            <tbody>
              {table.losses.map(({ loss, event }, index) => (
                <tr key={index}>
                  <td>
                    <button type="button" className="link" onClick={() => onEvent(event)}>
                      {event + 1}
                    </button>
                  </td>
                  <td title={lossKinds[loss.kind]}>{loss.kind}</td>
                  <td>
                    <code>{loss.what}</code>
                  </td>
                  <td>{loss.why}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </section>
  );
}
