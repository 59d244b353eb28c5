import type { ButtonHTMLAttributes } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './link-button.module.css';

/** An act that reads as a link, within or after text. */
export function LinkButton({ className, ...rest }: ButtonHTMLAttributes<HTMLButtonElement>) {
  return <button type="button" {...rest} className={cx(styles.link, className)} />;
}
