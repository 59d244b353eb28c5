import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useDeferredValue, useId, useRef, useState } from 'react';
import { problemOf } from '../api/problem.ts';
import { useRawApi } from '../api/use-raw-api.ts';
import { Dialog } from '../kit/dialog.tsx';
import { TextField } from '../kit/field.tsx';
import { Icon, type IconName } from '../kit/icon.tsx';
import { cx } from '../lib/cx.ts';
import { chooseOrganization } from '../session/organization.ts';
import { useIsOperator } from './operator.ts';
import { MAIN_PAGES, SERVICE_PAGES } from './pages.ts';
import styles from './search-dialog.module.css';

interface Match {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly detail?: string;
  readonly parentId?: string;
}

interface Found {
  readonly key: string;
  readonly name: string;
  readonly detail: string;
  readonly icon: IconName;
  readonly open: () => void;
}

const KINDS: Readonly<Record<string, readonly [IconName, string, (match: Match) => string]>> = {
  USER: ['person', 'User', ({ id }) => `/people?user=${id}`],
  TAG: ['tag', 'Tag', ({ id }) => `/people?tag=${id}`],
  WALLET: ['wallet', 'Wallet', ({ id }) => `/wallets/${id}`],
  WALLET_ACCOUNT: ['wallet', 'Account', ({ id, parentId }) => `/wallets/${parentId ?? id}`],
  PRIVATE_KEY: ['key', 'Private key', ({ id }) => `/wallets?privateKey=${id}`],
  POLICY: ['shield', 'Policy', ({ id }) => `/policies/${id}`],
  ACTIVITY: ['activity', 'Activity', ({ id }) => `/activities/${id}`],
  WEBHOOK_ENDPOINT: ['webhook', 'Webhook', ({ id }) => `/webhooks/${id}`],
  SEND: ['send', 'Send', ({ id }) => `/sends?send=${id}`],
  SUB_ORGANIZATION: ['tree', 'Sub-organization', () => '/inbox'],
};

/** Id, address, name or page. Arrows choose, Enter opens. */
export default function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const listId = useId();
  const navigate = useNavigate();
  const asked = useDeferredValue(text.trim());
  const { data, error, isFetching } = useRawApi<{ matches: Match[] }>(
    'search',
    { text: asked, limit: 20 },
    { enabled: asked.length > 0 && asked.length <= 200, keepsPrevious: true },
  );
  const go = (href: string): void => {
    onClose();
    void navigate({ href: `/console${href}` });
  };
  const isOperator = useIsOperator();
  const pages = [...MAIN_PAGES, ...SERVICE_PAGES]
    .filter(({ path }) => isOperator || path !== '/operations')
    .filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()))
    .map(({ path, name, icon }): Found => ({ key: path, name, detail: 'Page', icon, open: () => go(path) }));
  const matches = (asked === '' ? [] : (data?.matches ?? [])).map((match): Found => {
    const [icon, word, hrefOf] = KINDS[match.kind] ?? (['file', match.kind, () => '/inbox'] as const);
    return {
      key: `${match.kind} ${match.id}`,
      name: match.name || match.id,
      detail: match.detail ? `${word} · ${match.detail}` : word,
      icon,
      open: () => {
        if (match.kind === 'SUB_ORGANIZATION') chooseOrganization({ organizationId: match.id, name: match.name });
        go(hrefOf(match));
      },
    };
  });
  const found = [...pages, ...matches];
  const current = Math.min(chosen, found.length - 1);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const step = event.key === 'ArrowDown' ? 1 : -1;
      setChosen((current + step + found.length) % Math.max(1, found.length));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      found[current]?.open();
    }
  };
  return (
    <Dialog open onClose={onClose} title="Search" initialFocus={input}>
      <TextField
        ref={input}
        label="Id, address, name or page"
        value={text}
        maxLength={200}
        onChange={(next) => {
          setText(next);
          setChosen(0);
        }}
        before={<Icon name="search" />}
        role="combobox"
        aria-expanded={found.length > 0}
        aria-controls={listId}
        aria-activedescendant={found[current] && `${listId}-${current}`}
        onKeyDown={onKeyDown}
        {...(error && { error: `${problemOf(error).title} ${problemOf(error).text}` })}
      />
      <div id={listId} role="listbox" aria-label="Found" className={styles.list}>
        {found.map(({ key, name, detail, icon, open }, index) => (
          <div
            key={key}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            className={cx(styles.item, index === current && styles.chosen)}
            onClick={open}
            onKeyDown={undefined}
            onMouseMove={() => setChosen(index)}
          >
            <Icon name={icon} />
            <span className={styles.name}>
              <bdi>{name}</bdi>
            </span>
            <span className={styles.detail}>{detail}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && (
        <p className={styles.none}>{isFetching ? 'Searching…' : 'Nothing has this id, address or name.'}</p>
      )}
    </Dialog>
  );
}
