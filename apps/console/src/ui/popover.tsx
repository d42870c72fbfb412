import { useEffect, useId, useRef, type ReactNode } from 'react';

type TriggerProps = {
  onClick: () => void;
  'aria-haspopup': 'dialog';
  popoverTarget: string;
};

/** Small dialog below its trigger. The Popover API opens it and closes it on Escape and on an outside click. */
export function Popover({
  label,
  trigger,
  children,
}: {
  label: string;
  trigger: (props: TriggerProps) => ReactNode;
  children: ReactNode;
}): ReactNode {
  const id = useId();
  const anchor = useRef<HTMLSpanElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const place = (): void => {
    const box = anchor.current?.getBoundingClientRect();
    const element = panel.current;
    if (!box || !element) return;
    element.style.top = `${box.bottom + 6}px`;
    element.style.setProperty('--edge', `${innerWidth - box.right}px`);
  };
  useEffect(() => {
    // After the layout of the new size.
    const onResize = (): void => void requestAnimationFrame(place);
    addEventListener('resize', onResize);
    return () => removeEventListener('resize', onResize);
  }, []);
  return (
    <span ref={anchor}>
      {trigger({ onClick: place, 'aria-haspopup': 'dialog', popoverTarget: id })}
      <div ref={panel} id={id} popover="auto" role="dialog" aria-label={label} className="popover">
        {children}
      </div>
    </span>
  );
}
