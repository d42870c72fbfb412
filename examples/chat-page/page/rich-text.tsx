import type { ReactNode } from 'react';

/** Renders a subset of Markdown as elements, never as HTML: paragraphs, lists, code, bold and italic. Accepts incomplete text. */
export function RichText({ text }: { text: string }): ReactNode {
  return parseBlocks(text).map((block, index) => {
    switch (block.type) {
      case 'code':
        return (
          <pre key={index} tabIndex={0}>
            <code>{block.lines.join('\n')}</code>
          </pre>
        );
      case 'list':
        return (
          <ul key={index}>
            {block.lines.map((line, item) => (
              <li key={item}>{inline(line)}</li>
            ))}
          </ul>
        );
      default:
        return <p key={index}>{inline(block.lines.join(' '))}</p>;
    }
  });
}

type Block = { type: 'text' | 'list' | 'code'; lines: string[] };

function parseBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  const add = (type: Block['type'], line: string): void => {
    if (open?.type !== type) blocks.push((open = { type, lines: [] }));
    open.lines.push(line);
  };
  let isCode = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) {
      isCode = !isCode;
      open = undefined;
    } else if (isCode) add('code', line);
    else if (line.trim() === '') open = undefined;
    else if (/^[-*] /.test(line)) add('list', line.slice(2));
    else add('text', line);
  }
  return blocks;
}

function inline(text: string): ReactNode[] {
  return text.split(/(\*\*[^*]+\*\*|\*[^*]+\*|`[^`]+`)/).map((piece, index) => {
    if (index % 2 === 0) return piece;
    if (piece.startsWith('**')) return <strong key={index}>{piece.slice(2, -2)}</strong>;
    if (piece.startsWith('*')) return <em key={index}>{piece.slice(1, -1)}</em>;
    return <code key={index}>{piece.slice(1, -1)}</code>;
  });
}
