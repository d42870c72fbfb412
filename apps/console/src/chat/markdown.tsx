import { lazy, memo, Suspense, type ReactNode } from 'react';

const Rendered = lazy(() => import('./rendered-markdown.tsx'));

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
