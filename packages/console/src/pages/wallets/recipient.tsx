import type { Recipient as History } from '../../api/types.ts';
import { Address } from '../../kit/address.tsx';
import { TextField } from '../../kit/field.tsx';
import { Icon } from '../../kit/icon.tsx';
import { count } from '../../lib/amounts.ts';
import { day } from '../../lib/time.ts';
import styles from './send-form.module.css';

export interface RecipientProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** What was typed, once it is an address. */
  readonly address: string | undefined;
  readonly error: string | undefined;
  readonly history: History | undefined;
}

/** The field, under it the whole address in groups of four, and whether it was paid before. */
export function Recipient({ value, onChange, address, error, history }: RecipientProps) {
  return (
    <div className={styles.recipient}>
      <TextField id="send-to" label="To" mono value={value} onChange={onChange} error={error} autoCapitalize="none" />
      {address !== undefined && (
        <div className={styles.whole}>
          <Address address={address} shape="decision" />
        </div>
      )}
      {history !== undefined && <Paid history={history} />}
    </div>
  );
}

function Paid({ history: { name, paidCount, paidSince } }: { readonly history: History }) {
  if (paidCount > 0) {
    return (
      <p className={styles.known}>
        {name !== undefined && (
          <>
            <bdi>{name}</bdi>,{' '}
          </>
        )}
        paid {count(paidCount, 'time')}
        {paidSince !== undefined && ` since ${day(paidSince)}`}
      </p>
    );
  }
  if (name !== undefined) {
    return (
      <p className={styles.known}>
        <bdi>{name}</bdi>, never paid from here
      </p>
    );
  }
  return (
    <p className={styles.never}>
      <Icon name="triangle" size={14} />
      <span>
        <b>Never paid from here.</b> Compare it with another source before you go on.
      </span>
    </p>
  );
}
