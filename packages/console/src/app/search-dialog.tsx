import type { SearchResponse } from '@custos/sdk';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useDeferredValue, useId, useRef, useState } from 'react';
import { problemOf } from '../api/problem.ts';
import { useApi } from '../api/use-api.ts';
import { Dialog } from '../kit/dialog.tsx';
import { TextField } from '../kit/field.tsx';
import { Icon, type IconName } from '../kit/icon.tsx';
import { cx } from '../lib/cx.ts';
import { chooseOrganization } from '../session/organization.ts';
import { useIsOperator } from './operator.ts';
import { MAIN_PAGES, SERVICE_PAGES } from './pages.ts';
import styles from './search-dialog.module.css';

type Match = SearchResponse['matches'][number];

interface Found {
  readonly key: string;
  readonly name: string;
  readonly detail: string | undefined;
  /** Its heading: "Wallets". */
  readonly group: string;
  readonly icon: IconName;
  readonly open: () => void;
}

/** In the order of their groups. */
const KINDS: Readonly<Record<Match['kind'], readonly [IconName, string, (match: Match) => string]>> = {
  USER: ['person', 'Users', ({ id }) => `/people?user=${id}`],
  TAG: ['tag', 'Tags', ({ id }) => `/people?tag=${id}`],
  WALLET: ['wallet', 'Wallets', ({ id }) => `/wallets/${id}`],
  WALLET_ACCOUNT: ['wallet', 'Accounts', ({ id, parentId }) => `/wallets/${parentId ?? id}`],
  PRIVATE_KEY: ['key', 'Private keys', ({ id }) => `/wallets?privateKey=${id}`],
  POLICY: ['shield', 'Policies', ({ id }) => `/policies/${id}`],
  ACTIVITY: ['activity', 'Activities', ({ id }) => `/activities/${id}`],
  WEBHOOK_ENDPOINT: ['webhook', 'Webhooks', ({ id }) => `/webhooks/${id}`],
  SEND: ['send', 'Sends', ({ id }) => `/sends?send=${id}`],
  SUB_ORGANIZATION: ['tree', 'Sub-organizations', () => '/inbox'],
};

/** Id, address, name or page. Arrows choose, Enter opens. */
export default function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const listId = useId();
  const navigate = useNavigate();
  const asked = useDeferredValue(text.trim());
  const { data, error, isFetching } = useApi(
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
    .map(
      ({ path, name, icon }): Found => ({
        key: path,
        name,
        detail: undefined,
        group: 'Pages',
        icon,
        open: () => go(path),
      }),
    );
  const order = Object.keys(KINDS);
  const sorted = [...(asked === '' ? [] : (data?.matches ?? []))].sort(
    (a, b) => order.indexOf(a.kind) - order.indexOf(b.kind),
  );
  const matches = sorted.map((match): Found => {
    const [icon, group, hrefOf] = KINDS[match.kind];
    return {
      key: `${match.kind} ${match.id}`,
      name: match.name || match.id,
      detail: match.detail,
      group,
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
        {groupsOf(found).map(([group, members]) => (
          // biome-ignore lint/a11y/useSemanticElements: a list box holds groups, and no fieldset
          <div key={group} role="group" aria-label={group}>
            <p className={styles.group} aria-hidden="true">
              {group}
            </p>
            {members.map(({ one: { key, name, detail, icon, open }, index }) => (
              <div
                key={key}
                ref={index === current ? (row) => row?.scrollIntoView({ block: 'nearest' }) : undefined}
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
                {detail !== undefined && (
                  <span className={styles.detail}>
                    <bdi>{detail}</bdi>
                  </span>
                )}
              </div>
            ))}
          </div>
        ))}
      </div>
      {data?.isPartial && asked !== '' && (
        <p className={styles.none}>Only the newest of each kind were searched by name. An id or address finds all.</p>
      )}
      {found.length === 0 && (
        <p className={styles.none}>{isFetching ? 'Searching…' : 'Nothing has this id, address or name.'}</p>
      )}
    </Dialog>
  );
}

/** By heading, each with its place in the whole list, which the arrows go through. */
function groupsOf(found: readonly Found[]) {
  const groups = new Map<string, { readonly one: Found; readonly index: number }[]>();
  for (const [index, one] of found.entries()) {
    const members = groups.get(one.group) ?? [];
    groups.set(one.group, [...members, { one, index }]);
  }
  return [...groups];
}
