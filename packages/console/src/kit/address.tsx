import type { ReactNode } from 'react';
import { differingGroups, groupAddress, linesOf, shortAddress } from '../lib/addresses.ts';
import { cx } from '../lib/cx.ts';
import styles from './address.module.css';
import { CopyButton } from './copy-button.tsx';
import { Note } from './note.tsx';

export interface AddressProps {
  readonly address: string;
  /** What it is called here; the address is the name without. */
  readonly name?: string | undefined;
  /** `decision`: in full on two lines; `list`: name, then six and six. */
  readonly shape?: 'list' | 'decision';
  /** On one line where there is room for it. */
  readonly oneLine?: boolean;
  readonly copy?: boolean;
}

export function Address({ address, name, shape = 'list', oneLine = false, copy = false }: AddressProps) {
  const copyButton = copy && <CopyButton text={address} label="Copy the address" />;
  if (shape === 'list') {
    return (
      <span className={styles.list}>
        {name !== undefined && (
          <b>
            <bdi>{name}</bdi>
          </b>
        )}
        <span className={styles.short} title={address}>
          {shortAddress(address)}
        </span>
        {copyButton}
      </span>
    );
  }
  return (
    <span className={styles.decision}>
      <Groups address={address} oneLine={oneLine} />
      {copyButton}
    </span>
  );
}

interface GroupsProps {
  readonly address: string;
  readonly oneLine?: boolean;
  readonly marked?: readonly boolean[];
}

function Groups({ address, oneLine = false, marked = [] }: GroupsProps) {
  const { prefix, groups } = groupAddress(address);
  const lines = oneLine ? [groups] : linesOf(groups);
  let index = -1;
  return (
    // One name for all of it: screen readers would read forty characters as ten words.
    <span className={styles.groups} role="img" aria-label={address}>
      {lines.map((line, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of one address
        <span key={row} className={styles.line} aria-hidden="true">
          {line.map((group) => {
            index += 1;
            const isEnd = index === 0 || index === groups.length - 1;
            return (
              <span key={index} className={styles.group}>
                {index === 0 && prefix}
                <span className={cx(isEnd && styles.end, marked[index] && styles.differs)}>{group}</span>
              </span>
            );
          })}
        </span>
      ))}
    </span>
  );
}

export interface LookAlikeProps {
  readonly address: string;
  /** The one that it can be taken for. */
  readonly other: { readonly address: string; readonly name?: string | undefined };
  readonly children?: ReactNode;
}

/** Same first and last four as an address paid before or owned, but another: the differing groups are marked. */
export function LookAlike({ address, other, children }: LookAlikeProps) {
  return (
    <Note
      tone="deny"
      title={
        <>
          Looks like <bdi>{other.name ?? shortAddress(other.address)}</bdi>, is another.
        </>
      }
    >
      <span className={styles.decision}>
        <Groups address={address} marked={differingGroups(address, other.address)} />
      </span>
      {children}
    </Note>
  );
}
