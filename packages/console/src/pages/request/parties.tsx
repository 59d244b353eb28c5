import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Description, Recipient } from '../../api/types.ts';
import { Address, LookAlike } from '../../kit/address.tsx';
import { Hidden } from '../../kit/hidden.tsx';
import { Icon } from '../../kit/icon.tsx';
import { LinkButton } from '../../kit/link-button.tsx';
import { StatusMark } from '../../kit/status-mark.tsx';
import { count, formatUnits } from '../../lib/amounts.ts';
import { day } from '../../lib/time.ts';
import type { Moved } from './moved.ts';
import styles from './request.module.css';

const SHOWN_MAX = 4;

export interface PartiesProps {
  readonly description: Description;
  /** What leaves the sender, where its balance is known. */
  readonly moved?: Moved | undefined;
}

/** Where value comes from and where it goes, with addresses in full: two people can read them to each other. */
export function Parties({ description, moved }: PartiesProps) {
  const { sender, recipients } = description;
  const [isAll, setIsAll] = useState(false);
  if (sender === undefined || recipients.length === 0) return null;
  const shown = isAll ? recipients : recipients.slice(0, SHOWN_MAX);
  return (
    <div className={styles.parties}>
      <section className={styles.party} aria-label="From">
        <p className={styles.meta}>From your wallet</p>
        {sender.name !== undefined && (
          <p className={styles.partyName}>
            {sender.walletId === undefined ? (
              <bdi>{sender.name}</bdi>
            ) : (
              <Link to="/wallets/$walletId" params={{ walletId: sender.walletId }}>
                <bdi>{sender.name}</bdi>
              </Link>
            )}
          </p>
        )}
        <Address address={sender.address} shape="decision" copy />
        {moved !== undefined && <Balance moved={moved} />}
      </section>
      <span className={styles.partyArrow}>
        <Icon name="arrow-right" size={20} />
      </span>
      <section className={styles.party} aria-label="To">
        {shown.map((recipient) => (
          <RecipientOf key={recipient.address} recipient={recipient} />
        ))}
        {recipients.length > shown.length && (
          <LinkButton onClick={() => setIsAll(true)}>Show all {count(recipients.length, 'recipient')}</LinkButton>
        )}
      </section>
    </div>
  );
}

/** The balance before and after; the fee of the network comes on top. */
function Balance({ moved: { balance, units, decimals, symbol, paysFee } }: { readonly moved: Moved }) {
  const say = (value: bigint): string => `${formatUnits(value, decimals)}\u00a0${symbol}`;
  const after = balance - units;
  if (after < 0n) {
    return (
      <StatusMark tone="deny" icon="triangle" bare>
        It has {say(balance)}: {say(-after)} too little
      </StatusMark>
    );
  }
  return (
    <p className={styles.balance}>
      <Hidden>Balance before: </Hidden>
      <span>{say(balance)}</span>
      <Icon name="arrow-right" />
      <Hidden>, after: </Hidden>
      <b>{say(after)}</b>
      {paysFee && <span className={styles.meta}>without the fee</span>}
    </p>
  );
}

function RecipientOf({ recipient }: { readonly recipient: Recipient }) {
  const { address, name, paidCount, paidSince, lookAlike, notLookedUp } = recipient;
  return (
    <div className={styles.recipient}>
      <p className={styles.meta}>To</p>
      {name !== undefined && (
        <p className={styles.partyName}>
          <bdi>{name}</bdi>
        </p>
      )}
      {lookAlike === undefined ? (
        <Address address={address} shape="decision" copy />
      ) : (
        <LookAlike address={address} other={lookAlike}>
          You know <Address address={lookAlike.address} shape="decision" />
        </LookAlike>
      )}
      {paidCount > 0 ? (
        <StatusMark tone="allow" bare>
          Paid {count(paidCount, 'time')}
          {paidSince !== undefined && ` since ${day(paidSince)}`}
        </StatusMark>
      ) : (
        <StatusMark tone="wait" icon="triangle" bare>
          {notLookedUp ? 'Not looked up: too many recipients' : 'Never paid from here'}
        </StatusMark>
      )}
    </div>
  );
}
