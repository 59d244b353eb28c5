import { cx } from '../lib/cx.ts';
import { initialsOf } from '../lib/text.ts';
import styles from './avatar.module.css';

export interface AvatarProps {
  readonly name: string;
  /** Programs are square, people round. */
  readonly isProgram?: boolean;
  /** Instead of the initials, such as "ETH" for a chain. */
  readonly text?: string;
  readonly size?: 22 | 28 | 32;
}

/** Decoration: the name always stands beside it. */
export function Avatar({ name, isProgram = false, text, size = 28 }: AvatarProps) {
  return (
    <span className={cx(styles.avatar, isProgram && styles.program, styles[`size${size}`])} aria-hidden="true">
      {text ?? initialsOf(name)}
    </span>
  );
}
