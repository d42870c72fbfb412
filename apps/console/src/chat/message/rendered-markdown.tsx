import { createElement, isValidElement, type ComponentProps, type ReactNode } from 'react';
import { Streamdown, type Components } from 'streamdown';
import { Code } from '../../ui/code.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { isWebUrl } from './message-content.ts';

/** Plain elements: Streamdown's own ones need Tailwind. */
const components = {
  pre: Fence,
  code: ({ children, className }: ComponentProps<'code'>) => <code className={className}>{children}</code>,
  inlineCode: ({ children }: ComponentProps<'code'>) => <code>{children}</code>,
  a: ({ href, children }: ComponentProps<'a'>) =>
    href !== undefined && isWebUrl(href) ? (
      <a href={href} target="_blank" rel="noreferrer">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  img: Picture,
  table: ({ children }: ComponentProps<'table'>) => (
    <div className="table" tabIndex={0} role="group" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
  // The agent's name above is an h2, and heading levels must not be skipped: h1 to h3 all become h3.
  h1: ({ children }: ComponentProps<'h3'>) => (
    <h3 data-level="1" dir="auto">
      {children}
    </h3>
  ),
  h2: ({ children }: ComponentProps<'h3'>) => (
    <h3 data-level="2" dir="auto">
      {children}
    </h3>
  ),
  h3: withDirection('h3'),
  h4: withDirection('h4'),
  h5: withDirection('h5'),
  h6: withDirection('h6'),
  p: withDirection('p'),
  ul: withDirection('ul'),
  ol: withDirection('ol'),
  li: 'li',
  hr: 'hr',
  blockquote: withDirection('blockquote'),
  strong: 'strong',
  thead: 'thead',
  tbody: 'tbody',
  tr: 'tr',
  th: withDirection('th'),
  td: withDirection('td'),
  sup: 'sup',
  sub: 'sub',
  section: 'section',
} as Components;

/** Creates an element whose text runs in the direction of its first letter, such as right to left. */
function withDirection(tag: string): (props: { children?: ReactNode; start?: number; style?: object }) => ReactNode {
  return ({ children, start, style }) => createElement(tag, { dir: 'auto', start, style }, children);
}

export default function RenderedMarkdown({ text, isStreaming }: { text: string; isStreaming: boolean }): ReactNode {
  return (
    <Streamdown
      className="markdown"
      components={components}
      controls={false}
      linkSafety={{ enabled: false }}
      mode={isStreaming ? 'streaming' : 'static'}
      parseIncompleteMarkdown={isStreaming}
    >
      {text}
    </Streamdown>
  );
}

function Fence({ children }: { children?: ReactNode }): ReactNode {
  const { className = '', children: code } = isValidElement<ComponentProps<'code'>>(children) ? children.props : {};
  const language = /language-(\S+)/.exec(className)?.[1];
  const text = typeof code === 'string' ? code : '';
  return (
    <figure className="fence">
      <figcaption>
        <span>{language ?? 'text'}</span>
        <CopyButton text={text.replace(/\n$/, '')} label="Copy code" />
      </figcaption>
      <pre tabIndex={0}>
        <Code text={text} language={language} />
      </pre>
    </figure>
  );
}

/** Replaces an external image by a link: loading it would reveal the reader to its server. */
function Picture({ src, alt }: { src?: unknown; alt?: string }): ReactNode {
  const url = typeof src === 'string' ? src : '';
  if (url.startsWith('data:image/') || url.startsWith('/api/blobs/')) return <img src={url} alt={alt ?? ''} />;
  return isWebUrl(url) ? (
    <a href={url} target="_blank" rel="noreferrer">
      {alt || url}
    </a>
  ) : (
    alt
  );
}
