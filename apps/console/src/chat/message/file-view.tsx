import type { ReactNode } from 'react';
import { Icon } from '../../ui/icon.tsx';

/** File of a message. Displays only images that need no request to another server. */
export function FileView({
  url,
  mediaType,
  filename,
}: {
  url: string;
  mediaType: string;
  filename?: string;
}): ReactNode {
  const isOwn = url.startsWith('data:') || url.startsWith('/api/blobs/') || url.startsWith('blob:');
  const name = filename ?? (mediaType.split('/')[1] || 'file');
  if (isOwn && mediaType.startsWith('image/')) {
    return (
      <a className="picture" href={url} download={name} title={name}>
        <img src={url} alt={name} loading="lazy" />
      </a>
    );
  }
  return (
    <a className="file" href={url} {...(isOwn ? { download: name } : { target: '_blank', rel: 'noreferrer' })}>
      <Icon name="file" />
      <span>{name}</span>
      <small>{mediaType}</small>
    </a>
  );
}
