import type { ReactNode } from 'react';
import type { ItemFamily } from '@intertie/core/internal';

/** Small toggle button. */
export function Chip(props: {
  isOn: boolean;
  family?: ItemFamily;
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
