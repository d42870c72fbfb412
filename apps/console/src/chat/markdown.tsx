import { lazy, memo, Suspense, type ReactNode } from 'react';

const Rendered = lazy(() => import('./rendered-markdown.tsx'));

/** Text with marks, also while it is written. Until the renderer has come, it is shown as it is. */
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
