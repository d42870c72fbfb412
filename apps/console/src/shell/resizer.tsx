import { type KeyboardEvent, type PointerEvent, type ReactNode } from 'react';

const step = 24;

/** Separator between the chat and the inspector: drag it, or move it with the arrow keys. */
export function Resizer({
  width,
  min,
  max,
  onResize,
}: {
  width: number;
  min: number;
  max: number;
  onResize: (width: number) => void;
}): ReactNode {
  const set = (next: number): void => onResize(Math.round(Math.min(max, Math.max(min, next))));
  const onPointerMove = (event: PointerEvent<HTMLElement>): void => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) set(innerWidth - event.clientX);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: step, ArrowRight: -step, Home: max, End: -max }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    set(width + by);
  };
  return (
    <div
      className="resizer"
      role="separator"
      tabIndex={0}
      aria-label="Inspector width"
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={min}
      aria-valuemax={max}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
      onKeyDown={onKeyDown}
    />
  );
}
