import type { Description } from '../api/types.ts';
import { count } from '../lib/amounts.ts';
import { Address } from './address.tsx';
import styles from './request-words.module.css';
import { RiskMark } from './risk-mark.tsx';
import { Sentence } from './sentence.tsx';

export interface RequestWordsProps {
  readonly description: Description;
  readonly size: 'row' | 'decision';
}

/** What a request does, where somebody decides: its sentence, why care is asked for, every step and every recipient in full. */
export function RequestWords({ description, size }: RequestWordsProps) {
  const { sentence, marks, steps, recipients } = description;
  return (
    <>
      <Sentence as="p" size={size} parts={sentence} />
      {marks.map((mark) => (
        <div key={mark.text}>
          <RiskMark risk={mark.risk} text={mark.text} />
        </div>
      ))}
      {steps.length > 0 && (
        <ol className={styles.steps}>
          {steps.map((step, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps of a request never move
            <li key={index}>
              <Sentence parts={step.sentence} size="fact" />
            </li>
          ))}
        </ol>
      )}
      {recipients.length > 0 && <Recipients addresses={recipients.map(({ address }) => address)} />}
    </>
  );
}

/** Every one of them, in full; many scroll. */
function Recipients({ addresses }: { readonly addresses: readonly string[] }) {
  return (
    <>
      {addresses.length > 1 && <p className={styles.count}>{count(addresses.length, 'recipient')}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable */}
      <ul className={styles.recipients} aria-label="Recipients" tabIndex={0}>
        {addresses.map((address) => (
          <li key={address}>
            <Address address={address} shape="decision" oneLine />
          </li>
        ))}
      </ul>
    </>
  );
}
