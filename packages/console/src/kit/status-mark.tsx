import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import { Icon, type IconName } from './icon.tsx';
import styles from './mark.module.css';

export type StatusTone = 'allow' | 'wait' | 'deny' | 'info' | 'plain';

const ICONS: Readonly<Record<StatusTone, IconName>> = {
  allow: 'check-circle',
  wait: 'clock',
  deny: 'cross-circle',
  info: 'passkey',
  plain: 'minus',
};

export interface StatusMarkProps {
  readonly tone: StatusTone;
  readonly children: ReactNode;
  /** `false` for none. */
  readonly icon?: IconName | false;
  /** Without ground and padding, for table cells. */
  readonly bare?: boolean;
  readonly strong?: boolean;
}

export function StatusMark({ tone, children, icon = ICONS[tone], bare = false, strong = false }: StatusMarkProps) {
  return (
    <span className={cx(styles.mark, styles[tone], bare && styles.bare, strong && styles.strong)}>
      {icon && <Icon name={icon} size={bare ? 16 : 14} />}
      <span>{children}</span>
    </span>
  );
}

const ACTIVITY: Readonly<Record<string, readonly [StatusTone, string, IconName?]>> = {
  ACTIVITY_STATUS_CREATED: ['wait', 'Runs', 'refresh'],
  ACTIVITY_STATUS_PENDING: ['wait', 'Runs', 'refresh'],
  ACTIVITY_STATUS_CONSENSUS_NEEDED: ['wait', 'Waits'],
  ACTIVITY_STATUS_AUTHENTICATORS_NEEDED: ['info', 'Needs a further proof'],
  ACTIVITY_STATUS_COMPLETED: ['allow', 'Done'],
  ACTIVITY_STATUS_REJECTED: ['deny', 'Denied'],
  ACTIVITY_STATUS_FAILED: ['deny', 'Failed', 'triangle'],
};

/** The words for the states of an activity, for filters too. */
export const activityStatusWord = (status: string): string => ACTIVITY[status]?.[1] ?? status;

export function ActivityStatus(props: { readonly status: string; readonly bare?: boolean; readonly strong?: boolean }) {
  const [tone, word, icon] = ACTIVITY[props.status] ?? (['plain', props.status] as const);
  return (
    <StatusMark tone={tone} bare={props.bare ?? false} strong={props.strong ?? false} {...(icon && { icon })}>
      {word}
    </StatusMark>
  );
}
