import type { ComponentProps, ReactNode } from 'react';
import type { LucideIcon } from 'lucide-react';

export type ButtonTone = 'primary' | 'secondary' | 'danger' | 'plain';

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'className'> {
  readonly tone?: ButtonTone;
  readonly size?: 'small' | 'medium';
  readonly icon?: LucideIcon;
  /** Shows that what was asked for is under way; the button takes no second press meanwhile. */
  readonly isBusy?: boolean;
  readonly children: ReactNode;
}

export function Button({
  tone = 'secondary',
  size = 'medium',
  icon: Icon,
  isBusy = false,
  children,
  type = 'button',
  disabled,
  ...rest
}: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      className="button"
      data-tone={tone}
      data-size={size}
      aria-busy={isBusy || undefined}
      disabled={disabled === true || isBusy}
    >
      {isBusy ? <span className="spinner" aria-hidden="true" /> : Icon && <Icon size={16} aria-hidden="true" />}
      <span>{children}</span>
    </button>
  );
}

export interface IconButtonProps extends Omit<ComponentProps<'button'>, 'className' | 'children'> {
  readonly icon: LucideIcon;
  /** What it does, for those who do not see the icon and as its tooltip. */
  readonly label: string;
}

export function IconButton({ icon: Icon, label, type = 'button', ...rest }: IconButtonProps) {
  return (
    <button {...rest} type={type} className="icon-button" aria-label={label} title={label}>
      <Icon size={17} aria-hidden="true" />
    </button>
  );
}
