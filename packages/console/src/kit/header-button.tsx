import { useNarrow } from '../lib/use-media.ts';
import { Button, type ButtonProps, IconButton } from './button.tsx';
import type { IconName } from './icon.tsx';

export interface HeaderButtonProps extends Pick<ButtonProps, 'kind' | 'off' | 'busy' | 'onClick'> {
  readonly icon: IconName;
  readonly label: string;
}

/** A button of a page's header. On phones the page's name needs the room, so only the icon shows. */
export function HeaderButton({ icon, label, off, onClick, ...rest }: HeaderButtonProps) {
  if (useNarrow()) {
    return (
      <IconButton
        icon={icon}
        label={label}
        {...(off ? { 'aria-disabled': true, 'aria-description': off } : { onClick })}
      />
    );
  }
  return (
    <Button icon={icon} off={off} hideReason onClick={onClick} {...rest}>
      {label}
    </Button>
  );
}
