import { lazy, memo, Suspense, type ReactNode } from 'react';

const load = (): Promise<typeof import('./rendered-markdown.tsx')> => import('./rendered-markdown.tsx');
const Rendered = lazy(load);

/** Loads the renderer before there is a text to render. */
export function preloadMarkdown(): void {
  load().catch(() => undefined);
}

/** Renders Markdown, also incomplete Markdown while it streams. Shows plain text until the renderer is loaded. */
export const Markdown = memo(function MarkdownText({
  text,
  isStreaming,
}: {
  text: string;
  isStreaming: boolean;
}): ReactNode {
  return (
    <Suspense fallback={<div className="markdown plain">{text}</div>}>
      <Rendered text={text} isStreaming={isStreaming} />
    </Suspense>
  );
});
