import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { useInboxCounts } from '../api/inbox-counts.ts';
import { Icon } from '../kit/icon.tsx';
import { Kbd } from '../kit/kbd.tsx';
import { Skeleton } from '../kit/skeleton.tsx';
import { Badge } from '../kit/tag.tsx';
import { cx } from '../lib/cx.ts';
import { leave } from '../lib/leaving.ts';
import { useNarrow } from '../lib/use-media.ts';
import { useCurrentNames } from '../session/current-names.ts';
import { ReadOnlyBanner } from '../session/read-only-banner.tsx';
import { useSessionState } from '../session/session.ts';
import { SessionEnding } from '../session/session-ending.tsx';
import { SignInAgain } from '../session/sign-in-again.tsx';
import { Account } from './account.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import { focusHeading } from './focus-heading.ts';
import { useFollow } from './follow.ts';
import { isCovered, useKeys } from './keys.ts';
import { useNewsOfInbox } from './notifications.ts';
import { useIsOperator } from './operator.ts';
import { OrganizationSwitcher } from './organization-switcher.tsx';
import { MAIN_PAGES, type PageEntry, SERVICE_PAGES } from './pages.ts';
import styles from './shell.module.css';
import { ShellContext } from './shell-context.ts';

const SearchDialog = lazy(() => import('./search-dialog.tsx'));
const KeysDialog = lazy(() => import('./keys-dialog.tsx'));

/** Side bar or tabs around the page. Mounted only with a session, also one that has just ended. */
export function Shell() {
  const { session, ended } = useSessionState();
  const shown = session ?? ended?.session;
  const isOut = shown === undefined;
  const navigate = useNavigate();
  useEffect(() => {
    if (!isOut) return;
    // Signed out, in this tab or another: nothing that was read or typed stays.
    leave();
    void navigate({ to: '/sign-in', replace: true });
  }, [isOut, navigate]);
  // The page of one person is never the page of the next: what its components hold goes with it.
  return shown === undefined ? null : <SignedIn key={`${shown.organizationId} ${shown.userId}`} />;
}

function SignedIn() {
  useFollow();
  useCurrentNames();
  useNewsOfInbox();
  const { forMe } = useInboxCounts();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'search' | 'keys'>();
  const actions = useMemo(() => ({ openSearch: () => setDialog('search'), openKeys: () => setDialog('keys') }), []);
  const go = (to: string) => () => void navigate({ to });
  useKeys({
    'ctrl+k': ({ repeat }) => {
      if (repeat) return;
      if (dialog === 'search') setDialog(undefined);
      // A decision, a form or the sign-in: nothing comes between a person and that.
      else if (!isCovered()) setDialog('search');
    },
    '?': () => setDialog('keys'),
    'g i': go('/inbox'),
    'g a': go('/activities'),
    'g w': go('/wallets'),
    'g p': go('/policies'),
    '/': focusFilter,
  });
  const main = useRef<HTMLElement>(null);
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  const page = pathname.split('/')[1] ?? '';
  const isFirst = useRef(true);
  useEffect(() => {
    // Among many tabs, the one where something waits is found by its number.
    document.title = `${forMe > 0 ? `(${forMe}) ` : ''}${titleOf(page)} · Custos`;
  }, [page, forMe]);
  // A request opens beside its list: there the focus stays where it is.
  const opened = page === 'inbox' ? page : pathname;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page is what moves the focus
  useEffect(() => {
    const wasFirst = isFirst.current;
    isFirst.current = false;
    return wasFirst || main.current === null ? undefined : focusHeading(main.current);
  }, [opened]);
  const isNarrow = useNarrow();
  return (
    <ShellContext value={actions}>
      <div className={styles.shell}>
        <a href="#main" className={styles.skip}>
          Skip to the page
        </a>
        {!isNarrow && <SideBar openSearch={actions.openSearch} />}
        <main id="main" ref={main} tabIndex={-1} className={styles.main}>
          <div className={styles.banners}>
            <ConnectionBanner />
            <SessionEnding />
            <ReadOnlyBanner />
          </div>
          <Suspense fallback={<Skeleton />}>
            <Outlet />
          </Suspense>
        </main>
        {isNarrow && <TabBar />}
      </div>
      <SignInAgain />
      <Suspense fallback={null}>
        {dialog === 'search' && <SearchDialog onClose={() => setDialog(undefined)} />}
        {dialog === 'keys' && <KeysDialog onClose={() => setDialog(undefined)} />}
      </Suspense>
    </ShellContext>
  );
}

/** The filter of the page, or the first of several. */
function focusFilter(): void {
  const filter = document.querySelector<HTMLElement>('[data-filter]');
  const first = filter?.matches('input, button') ? filter : filter?.querySelector<HTMLElement>('input, button');
  first?.focus();
}

const titleOf = (page: string): string =>
  [...MAIN_PAGES, ...SERVICE_PAGES].find(({ path }) => path === `/${page}`)?.name ?? 'Console';

function useServicePages(): readonly PageEntry[] {
  const isOperator = useIsOperator();
  return isOperator ? SERVICE_PAGES : SERVICE_PAGES.filter(({ path }) => path !== '/operations');
}

function SideBar({ openSearch }: { readonly openSearch: () => void }) {
  const { forMe } = useInboxCounts();
  const servicePages = useServicePages();
  return (
    <div className={styles.side}>
      <OrganizationSwitcher />
      <button type="button" className={styles.search} onClick={openSearch}>
        <Icon name="search" />
        <span>Search or jump to</span>
        <Kbd>Ctrl K</Kbd>
      </button>
      <nav aria-label="Main" className={styles.nav}>
        <ul>
          {MAIN_PAGES.map((page) => (
            <NavItem key={page.path} page={page} waiting={page.path === '/inbox' ? forMe : 0} />
          ))}
        </ul>
        <p className={styles.group}>Service</p>
        <ul>
          {servicePages.map((page) => (
            <NavItem key={page.path} page={page} waiting={0} />
          ))}
        </ul>
      </nav>
      <Account />
    </div>
  );
}

function NavItem({ page, waiting }: { readonly page: PageEntry; readonly waiting: number }) {
  return (
    <li>
      <Link to={page.path} className={styles.item} activeProps={{ className: cx(styles.item, styles.current) }}>
        <Icon name={page.icon} size={18} />
        <span>{page.name}</span>
        <Badge count={waiting} label={`${waiting} waiting for you`} />
      </Link>
    </li>
  );
}

function TabBar() {
  const { forMe } = useInboxCounts();
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  const [isOpen, setIsOpen] = useState(false);
  const servicePages = useServicePages();
  const tabs = MAIN_PAGES.slice(0, 4);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes it
  useEffect(() => setIsOpen(false), [pathname]);
  // A request is a page of its own, with its decision at the bottom.
  if (/^\/inbox\/./.test(pathname)) return null;
  const isElsewhere = !tabs.some(({ path }) => pathname.startsWith(path));
  return (
    <>
      {isOpen && (
        <div className={styles.more}>
          <OrganizationSwitcher />
          <ul>
            {[...MAIN_PAGES.slice(4), ...servicePages].map((page) => (
              <NavItem key={page.path} page={page} waiting={0} />
            ))}
          </ul>
          <Account />
        </div>
      )}
      <nav aria-label="Main" className={styles.tabs}>
        {tabs.map(({ path, name, icon }) => (
          <Link
            key={path}
            to={path}
            className={styles.tab}
            activeProps={{ className: cx(styles.tab, !isOpen && styles.currentTab) }}
            onClick={() => setIsOpen(false)}
          >
            <span className={styles.tabIcon}>
              <Icon name={icon} size={20} />
              {path === '/inbox' && <Badge count={forMe} label={`${forMe} waiting for you`} />}
            </span>
            {name}
          </Link>
        ))}
        <button
          type="button"
          className={cx(styles.tab, (isOpen || isElsewhere) && styles.currentTab)}
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          <Icon name="menu" size={20} />
          More
        </button>
      </nav>
    </>
  );
}
