import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react';
import { Icon, type IconName } from './icon.tsx';

type Shared = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'> & { ref?: Ref<HTMLButtonElement> };

/** Button with text. `primary` is the main action; `quiet` has no background until hovered. */
export function Button({
  variant = 'plain',
  icon,
  children,
  className = '',
  ...rest
}: Shared & { variant?: 'plain' | 'primary' | 'quiet' | 'danger'; icon?: IconName; children: ReactNode }): ReactNode {
  return (
    <button type="button" {...rest} className={`button ${variant} ${className}`}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** Button with an icon only; the label is its tooltip and accessible name. */
export function IconButton({
  icon,
  label,
  keys,
  className = '',
  ...rest
}: Shared & { icon: IconName; label: string; keys?: string }): ReactNode {
  const title = keys === undefined ? label : `${label} (${keys})`;
  return (
    <button type="button" aria-label={label} title={title} {...rest} className={`icon-button ${className}`}>
      <Icon name={icon} />
    </button>
  );
}
