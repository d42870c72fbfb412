import type { ReactNode } from 'react';
import type { Family } from './event-family.ts';

/** Small toggle button. */
export function Chip(props: {
  isOn: boolean;
  family?: Family;
  title?: string;
  onToggle: () => void;
  children: string;
}): ReactNode {
  return (
    <button
      type="button"
      className="chip"
      aria-pressed={props.isOn}
      data-family={props.family}
      title={props.title}
      onClick={props.onToggle}
    >
      {props.children}
    </button>
  );
}
