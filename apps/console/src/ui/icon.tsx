import type { ReactNode } from 'react';

/** Stroke paths on a 16 × 16 grid. Icons are hidden from screen readers; the control around an icon has the label. */
const paths = {
  add: 'M8 3.5v9M3.5 8h9',
  arrowUp: 'M8 13V3.5M4 7.2 8 3.2l4 4',
  attach: 'M13 7.3 8.1 12.2a3 3 0 0 1-4.3-4.3l5.2-5.1a2 2 0 0 1 2.8 2.8l-5.1 5.1a1 1 0 0 1-1.4-1.4L9.8 4.8',
  back: 'M9.8 3.8 5.6 8l4.2 4.2',
  branch: 'M5 3.5v9M5 9.5c0-3 6-1.5 6-5M5 3.5h0M11 4.5h0',
  bug: 'M8 5a3 3 0 0 1 3 3v2a3 3 0 0 1-6 0V8a3 3 0 0 1 3-3ZM6 5l-1.2-1.8M10 5l1.2-1.8M5 8.5H2.5M13.5 8.5H11',
  chat: 'M3 4.5h10v7H8l-3 2.3v-2.3H3z',
  check: 'm3.5 8.5 3 3 6-7',
  chevron: 'm6.2 3.8 4.2 4.2-4.2 4.2',
  close: 'm4.2 4.2 7.6 7.6M11.8 4.2l-7.6 7.6',
  copy: 'M6 6h6.5v6.5H6zM10 6V3.5H3.5V10H6',
  cut: 'M2.5 8h3.2M10.3 8h3.2M7 5.2 5.7 8 7 10.8M9 5.2 10.3 8 9 10.8',
  download: 'M8 3v7M5 7.2l3 3 3-3M3.5 12.8h9',
  edit: 'm10.6 3.4 2 2-7 7-2.6.6.6-2.6z',
  file: 'M4.5 2.5h4.7l2.8 2.8v8.2H4.5zM9 2.7v2.8h2.8',
  focus: 'M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3',
  inspect: 'M3 3.5h10v9H3zM9.5 3.5v9',
  keyboard: 'M2.5 4.5h11v7h-11zM5 9.3h6M5 6.8h0M8 6.8h0M11 6.8h0',
  link: 'M6.8 9.2a2.4 2.4 0 0 0 3.4 0l2-2a2.4 2.4 0 0 0-3.4-3.4l-.8.8M9.2 6.8a2.4 2.4 0 0 0-3.4 0l-2 2a2.4 2.4 0 0 0 3.4 3.4l.8-.8',
  more: 'M3.6 8h0M8 8h0M12.4 8h0',
  pause: 'M6 4v8M10 4v8',
  play: 'M5.5 3.8v8.4l6.5-4.2z',
  question: 'M6 6.2a2 2 0 1 1 2.8 1.9c-.6.3-.8.7-.8 1.4M8 11.8h0',
  retry: 'M12.7 8A4.7 4.7 0 1 1 11 4.4M12.8 2.6v2.6h-2.6',
  search: 'M7.2 11.4a4.2 4.2 0 1 0 0-8.4 4.2 4.2 0 0 0 0 8.4ZM10.4 10.4l3 3',
  stop: 'M5 5h6v6H5z',
  thought: 'M8 3a3.6 3.6 0 0 1 2.2 6.4c-.5.4-.7.9-.7 1.5H6.5c0-.6-.2-1.1-.7-1.5A3.6 3.6 0 0 1 8 3ZM6.7 13.2h2.6',
  threads: 'M3 4.5h10M3 8h10M3 11.5h6',
  tool: 'M10.9 3a3 3 0 0 0-3.7 3.9L3.4 10.7a1.3 1.3 0 0 0 1.9 1.9l3.8-3.8A3 3 0 0 0 13 5.1L11.2 6.9 9.1 6.6 8.9 4.6z',
  trash: 'M3.5 4.7h9M6.3 4.5V3h3.4v1.5M4.7 4.9l.5 8h5.6l.5-8',
  agents:
    'M6 7.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM2.5 12.5c0-2 1.5-3.2 3.5-3.2s3.5 1.2 3.5 3.2M10.3 3.7a2 2 0 0 1 0 3.6M11 9.5c1.5.3 2.5 1.400 2.5 3',
  wire: 'M2.5 8h2.700l1.600-4 2.400 8 1.600-4h2.700',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
