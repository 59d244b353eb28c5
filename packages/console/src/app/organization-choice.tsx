import { Popover } from '@base-ui/react/popover';
import { useLocation, useNavigate } from '@tanstack/react-router';
import {
  type KeyboardEvent,
  type ReactElement,
  type UIEvent,
  useDeferredValue,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { problemOf } from '../api/problem.ts';
import { useApiPages } from '../api/use-api.ts';
import { SearchField } from '../kit/field.tsx';
import { Icon } from '../kit/icon.tsx';
import { Logo } from '../kit/logo.tsx';
import { cx } from '../lib/cx.ts';
import { chooseOrganization, useOrganization } from '../session/organization.ts';
import { useSessionOrThrow } from '../session/session.ts';
import styles from './organization-switcher.module.css';

/** Opens as soon as it is there: a click asked for it. */
export default function OrganizationChoice({ trigger }: { readonly trigger: ReactElement<Record<string, unknown>> }) {
  const [isOpen, setIsOpen] = useState(true);
  const input = useRef<HTMLInputElement>(null);
  return (
    <Popover.Root open={isOpen} onOpenChange={setIsOpen}>
      <Popover.Trigger render={trigger} />
      <Popover.Portal>
        <Popover.Positioner className={styles.positioner} sideOffset={4} align="start">
          <Popover.Popup className={styles.popup} initialFocus={input} aria-label="Organizations">
            <Choice input={input} onClose={() => setIsOpen(false)} />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

interface Choosable {
  readonly organizationId: string;
  readonly name: string;
  readonly isOwn: boolean;
}

const PAGE_SIZE = 50;
/** The next page is asked for when so little is left below. */
const AHEAD_PX = 120;
/** Pages that only the own organization has. */
const OWN_PAGES = ['sub-organizations', 'operations'];

function Choice({
  input,
  onClose,
}: {
  readonly input: React.RefObject<HTMLInputElement | null>;
  readonly onClose: () => void;
}) {
  const [text, setText] = useState('');
  const [marked, setMarked] = useState(0);
  const asked = useDeferredValue(text.trim());
  const session = useSessionOrThrow();
  const shown = useOrganization();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const listId = useId();
  const { items, query, hasMore, loadMore } = useApiPages(
    'searchSubOrganizations',
    asked === '' ? {} : { text: asked },
    ({ subOrganizations }) => subOrganizations,
    { organizationId: session.organizationId, pageSize: PAGE_SIZE },
  );
  const own: Choosable = { organizationId: session.organizationId, name: session.organizationName, isOwn: true };
  const all: readonly Choosable[] = [
    own,
    ...items.map(({ organizationId, name }) => ({ organizationId, name, isOwn: false })),
  ];
  const current = Math.min(marked, all.length - 1);
  // Arrows may lead out of what is in view; more rows that load must not.
  useEffect(() => {
    document.getElementById(`${listId}-${current}`)?.scrollIntoView({ block: 'nearest' });
  }, [listId, current]);
  const choose = ({ organizationId, name, isOwn }: Choosable): void => {
    onClose();
    if (organizationId === shown.organizationId) return;
    chooseOrganization(isOwn ? undefined : { organizationId, name });
    // What one organization has, another has not: the list of it is there in both.
    const section = pathname.split('/')[1] ?? '';
    void navigate({ href: `/console/${section === '' || OWN_PAGES.includes(section) ? 'inbox' : section}` });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowDown: current + 1, ArrowUp: current - 1 };
    const next = steps[event.key];
    if (next !== undefined) {
      event.preventDefault();
      setMarked(Math.max(0, Math.min(all.length - 1, next)));
      if (next >= all.length - 1 && hasMore) loadMore();
    } else if (event.key === 'Enter') {
      event.preventDefault();
      const one = all[current];
      if (one !== undefined) choose(one);
    }
  };
  const onScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: UIEvent): void => {
    if (scrollHeight - scrollTop - clientHeight < AHEAD_PX) loadMore();
  };
  const problem = query.error === null ? undefined : problemOf(query.error);
  return (
    <>
      <SearchField
        ref={input}
        label="Organization, by name, email, address or id"
        placeholder="Name, email, address or id"
        value={text}
        onChange={(next) => {
          setText(next);
          // Who types looks for another than the own.
          setMarked(next.trim() === '' ? 0 : 1);
        }}
        combobox={{
          'aria-expanded': true,
          'aria-controls': listId,
          'aria-activedescendant': `${listId}-${current}`,
          onKeyDown,
        }}
      />
      <div id={listId} role="listbox" aria-label="Organizations" className={styles.list} onScroll={onScroll}>
        {all.map((one, index) => (
          <div
            key={one.organizationId}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            aria-current={one.organizationId === shown.organizationId ? 'true' : undefined}
            className={cx(styles.item, index === current && styles.marked)}
            onClick={() => choose(one)}
            onKeyDown={undefined}
            onMouseMove={() => setMarked(index)}
          >
            {one.isOwn ? <Logo size={18} /> : <Icon name="tree" />}
            <span className={styles.text}>
              <span className={styles.itemName} title={one.name}>
                <bdi>{one.name}</bdi>
              </span>
              <span className={styles.detail}>{one.isOwn ? 'Your organization' : 'Sub-organization, read only'}</span>
            </span>
            {one.organizationId === shown.organizationId && <Icon name="check" label="Shown now" />}
          </div>
        ))}
      </div>
      <p className={styles.state} role="status">
        {problem !== undefined
          ? `${problem.title} ${problem.text}`
          : query.isPending || query.isFetchingNextPage
            ? 'Loading…'
            : items.length === 0
              ? asked === ''
                ? 'It has no sub-organizations.'
                : 'No sub-organization has this name, mail address, address or id.'
              : ''}
      </p>
    </>
  );
}
