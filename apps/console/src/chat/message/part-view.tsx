import type { MessagePart } from '@intertie/core';
import { isToolPart } from '../../tool-part.ts';
import { memo, type ReactNode } from 'react';
import { Icon } from '../../ui/icon.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { FileView } from './file-view.tsx';
import { Markdown } from './markdown.tsx';
import { Reasoning } from './reasoning.tsx';
import { shallowEqual } from './shallow-equal.ts';
import { getPartMetadata, type Part } from '../../intertie-metadata.ts';
import { ToolCard } from './tool-card.tsx';

type PartViewProps = { part: Part; isLive: boolean };

/** One part of a message. Renders again only if a field of the part changes. */
export const PartView = memo(
  function PartView({ part, isLive }: PartViewProps): ReactNode {
    return renderPart(part, isLive);
  },
  (before, after) => before.isLive === after.isLive && shallowEqual(before.part, after.part),
);

function renderPart(part: Part, isLive: boolean): ReactNode {
  if (isToolPart(part)) return <ToolCard part={part} />;
  const isStreaming = isLive && 'state' in part && part.state === 'streaming';
  switch (part.type) {
    case 'text':
      return <Markdown text={part.text} isStreaming={isStreaming} />;
    case 'reasoning':
      return <Reasoning text={part.text} isStreaming={isStreaming} />;
    case 'file': {
      const filename = part.filename ?? getPartMetadata(part).filename;
      return <FileView url={part.url} mediaType={part.mediaType} {...(filename !== undefined && { filename })} />;
    }
    case 'data-file': {
      const { filename, mimeType } = part.data as { filename?: string; mimeType?: string };
      return (
        <span className="file">
          <Icon name="file" />
          <span>{filename ?? 'File stored by the provider'}</span>
          {mimeType !== undefined && <small>{mimeType}</small>}
        </span>
      );
    }
    case 'data-interjection': {
      const { role, name, parts } = part.data as { role: string; name?: string; parts: MessagePart[] };
      return (
        <blockquote className="interjection">
          <strong>{name ?? (role === 'user' ? 'You' : 'System')}</strong> {parts.map(toText).join('\n')}
        </blockquote>
      );
    }
    default:
      return 'data' in part ? <JsonView label={part.type.slice('data-'.length)} value={part.data} /> : undefined;
  }
}

function toText(part: MessagePart): string {
  return part.type === 'text' ? part.text : `[${part.type}]`;
}

/** Returns a React key that does not change while the part grows. */
export function getPartKey(part: Part, index: number): string {
  return isToolPart(part) ? part.toolCallId : `${part.type}-${index}`;
}
