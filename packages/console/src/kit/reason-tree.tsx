import { type ReactNode, useState } from 'react';
import type { Explanation } from '../api/types.ts';
import { count } from '../lib/amounts.ts';
import { cx } from '../lib/cx.ts';
import { Icon, type IconName } from './icon.tsx';
import { LinkButton } from './link-button.tsx';
import styles from './reason-tree.module.css';
import { Sentence } from './sentence.tsx';
import { Tag } from './tag.tsx';

export type ReasonOutcome = 'DENIES' | 'ALLOWS' | 'WOULD_ALLOW' | 'WAITS' | 'DOES_NOT_APPLY' | 'NO_ANSWER';

export interface Reason {
  readonly id: string;
  readonly name: ReactNode;
  readonly effect: 'ALLOW' | 'DENY' | 'ROOT_QUORUM';
  readonly outcome: ReasonOutcome;
  readonly explanation?: Explanation | undefined;
  /** Where no explanation is known. */
  readonly text?: ReactNode;
  /** Those that decided stand first, open and with their ground. */
  readonly decided?: boolean;
  /** Its parts are shown on request only. */
  readonly isClosed?: boolean;
}

interface Shape {
  readonly icon: IconName;
  readonly word: string;
  readonly tone: 'deny' | 'allow' | 'wait' | 'plain';
}

const SHAPES: Readonly<Record<ReasonOutcome, Shape>> = {
  DENIES: { icon: 'cross-circle', word: 'applies', tone: 'deny' },
  ALLOWS: { icon: 'check-circle', word: 'allows', tone: 'allow' },
  WOULD_ALLOW: { icon: 'check-circle', word: 'would have allowed', tone: 'allow' },
  WAITS: { icon: 'clock', word: 'waits for approvals', tone: 'wait' },
  DOES_NOT_APPLY: { icon: 'minus', word: 'does not apply', tone: 'plain' },
  NO_ANSWER: { icon: 'question', word: 'has no answer', tone: 'wait' },
};

const EFFECTS = { ALLOW: 'Allow', DENY: 'Deny', ROOT_QUORUM: 'Root quorum' } as const;

export interface ReasonTreeProps {
  readonly reasons: readonly Reason[];
  /** One sentence after "What would pass:". */
  readonly whatWouldPass?: ReactNode;
}

/** First the policies that decided, then the others. Colour belongs to outcomes; parts are ink with a tick or cross. */
export function ReasonTree({ reasons, whatWouldPass }: ReasonTreeProps) {
  const ordered = [...reasons.filter(({ decided }) => decided), ...reasons.filter(({ decided }) => !decided)];
  return (
    <div>
      <ul className={styles.tree}>
        {ordered.map((reason) => (
          <ReasonItem key={reason.id} reason={reason} />
        ))}
      </ul>
      {whatWouldPass !== undefined && (
        <p className={styles.pass}>
          <Icon name="info" />
          <span>
            <b>What would pass:</b> {whatWouldPass}
          </span>
        </p>
      )}
    </div>
  );
}

function ReasonItem({ reason }: { readonly reason: Reason }) {
  const { icon, word, tone } = SHAPES[reason.outcome];
  const parts = reason.explanation?.parts ?? [];
  const [isOpen, setIsOpen] = useState(
    reason.isClosed !== true && (reason.decided === true || parts.some(({ decides }) => decides)),
  );
  return (
    <li className={cx(styles.reason, reason.decided && tone !== 'plain' && styles[`${tone}Ground`])}>
      <span className={styles[tone]}>
        <Icon name={icon} />
      </span>
      <div className={styles.content}>
        <p className={styles.name}>
          <b>
            <bdi>{reason.name}</bdi>
          </b>
          <Tag>{EFFECTS[reason.effect]}</Tag>
          <span className={cx(styles.outcome, styles[`${tone}Mark`], reason.outcome === 'DENIES' && styles.outlined)}>
            {word}
          </span>
        </p>
        {reason.explanation ? (
          <Sentence as="p" size="fact" parts={reason.explanation.sentence} />
        ) : (
          reason.text !== undefined && <p className={styles.text}>{reason.text}</p>
        )}
        {parts.length > 0 &&
          (isOpen ? (
            <ul className={cx(styles.parts, reason.decided && styles[`${tone}Line`])}>
              {parts.map((part, index) => (
                <li
                  // biome-ignore lint/suspicious/noArrayIndexKey: parts of one condition in its order
                  key={index}
                  className={cx(styles.part, part.decides && styles.decides)}
                  style={{ paddingLeft: part.depth * 16 }}
                >
                  <Icon
                    name={part.holds === null ? 'question' : part.holds ? 'check' : 'cross'}
                    size={14}
                    label={part.holds === null ? 'not known:' : part.holds ? 'holds:' : 'does not hold:'}
                  />
                  <span>
                    {part.text} {part.decides && <Tag kind="ink-line">decides</Tag>}
                  </span>
                </li>
              ))}
            </ul>
          ) : (
            <LinkButton className={styles.show} onClick={() => setIsOpen(true)}>
              Show the {count(parts.length, 'part')}
            </LinkButton>
          ))}
      </div>
    </li>
  );
}
