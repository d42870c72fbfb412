import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react';
import { Icon, type IconName } from './icon.tsx';

type Shared = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'> & { ref?: Ref<HTMLButtonElement> };

/** A button with words. `primary` is the one thing to do; `quiet` has no ground until it is pointed at. */
export function Button({
  look = 'plain',
  icon,
  children,
  className = '',
  ...rest
}: Shared & { look?: 'plain' | 'primary' | 'quiet' | 'danger'; icon?: IconName; children: ReactNode }): ReactNode {
  return (
    <button type="button" {...rest} className={`button ${look} ${className}`}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button with a picture, whose name is shown when it is pointed at. */
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
