import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { readActivitySearch } from '../pages/activities/filters.ts';
import { readPolicySearch } from '../pages/policies/tabs.ts';
import { currentSession, loadSession } from '../session/session.ts';
import { SignInPage } from '../session/sign-in-page.tsx';
import { NotFoundPage } from './not-found-page.tsx';
import { PageError } from './page-error.tsx';
import { Shell } from './shell.tsx';

/** Ids in the address; whatever is none is left out. */
const readIds =
  <Name extends string>(...names: readonly Name[]) =>
  (search: Record<string, unknown>): Partial<Record<Name, string>> =>
    Object.fromEntries(
      names.map((name) => [name, search[name]]).filter(([, id]) => typeof id === 'string' && /^[\w-]{1,64}$/.test(id)),
    ) as Partial<Record<Name, string>>;

/** The router keeps what a page does not read from the address; pages get what they read, and nothing besides. */
const strictly =
  <Found extends object>(read: (search: Record<string, unknown>) => Found) =>
  (search: Record<string, unknown>): Found => ({
    ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
    ...read(search),
  });

/** Only a path of the console itself, since a link must not lead away after sign-in, and the organization to sign in to. */
const readSignIn = ({ from, organization }: Record<string, unknown>): { from?: string; organization?: string } => ({
  ...(typeof from === 'string' && /^\/(?!\/)[\w\-./?=&%]*$/.test(from) && { from }),
  ...(typeof organization === 'string' && /^[0-9a-f-]{36}$/.test(organization) && { organization }),
});

/** What an earlier visit left is read once. */
let stored: Promise<void> | undefined;

const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage });

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: strictly(readSignIn),
  component: SignInPage,
});

/** Everything behind the sign-in: without a session it leads there, and back afterwards. */
const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  beforeLoad: async ({ location }) => {
    stored ??= loadSession();
    await stored;
    if (currentSession() !== undefined) return;
    throw redirect({ to: '/sign-in', search: location.pathname === '/' ? {} : { from: location.href } });
  },
  component: Shell,
  notFoundComponent: NotFoundPage,
});

const indexRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/inbox', replace: true });
  },
});

const inboxRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/inbox',
  component: lazyRouteComponent(() => import('../pages/inbox/page.tsx'), 'InboxPage'),
  errorComponent: PageError,
});
/** The list stays mounted while requests open beside it: the page reads the parameter. */
const inboxItemRoute = createRoute({ getParentRoute: () => inboxRoute, path: '$activityId' });

const activitiesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/activities',
  validateSearch: strictly(readActivitySearch),
  component: lazyRouteComponent(() => import('../pages/activities/page.tsx'), 'ActivitiesPage'),
  errorComponent: PageError,
});
const activityRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/activities/$activityId',
  component: lazyRouteComponent(() => import('../pages/activities/activity-page.tsx'), 'ActivityPage'),
  errorComponent: PageError,
});
const walletsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/wallets',
  component: lazyRouteComponent(() => import('../pages/wallets/page.tsx'), 'WalletsPage'),
  errorComponent: PageError,
});
const walletRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/wallets/$walletId',
  component: lazyRouteComponent(() => import('../pages/wallets/wallet-page.tsx'), 'WalletPage'),
  errorComponent: PageError,
});
const policiesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/policies',
  validateSearch: strictly(readPolicySearch),
  component: lazyRouteComponent(() => import('../pages/policies/page.tsx'), 'PoliciesPage'),
  errorComponent: PageError,
});
/** `new` in place of an id begins a policy. */
const policyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/policies/$policyId',
  component: lazyRouteComponent(() => import('../pages/policies/policy-page.tsx'), 'PolicyPage'),
  errorComponent: PageError,
});
const peopleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/people',
  validateSearch: strictly(readIds('user', 'tag')),
  component: lazyRouteComponent(() => import('../pages/people/page.tsx'), 'PeoplePage'),
  errorComponent: PageError,
});
const webhooksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('../pages/webhooks/page.tsx'), 'WebhooksPage'),
  errorComponent: PageError,
});
const webhookRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks/$endpointId',
  component: lazyRouteComponent(() => import('../pages/webhooks/webhook-page.tsx'), 'WebhookPage'),
  errorComponent: PageError,
});
const sendsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/sends',
  component: lazyRouteComponent(() => import('../pages/sends/page.tsx'), 'SendsPage'),
  errorComponent: PageError,
});
const earnRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/earn',
  component: lazyRouteComponent(() => import('../pages/earn/page.tsx'), 'EarnPage'),
  errorComponent: PageError,
});
const subOrganizationsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/sub-organizations',
  component: lazyRouteComponent(() => import('../pages/sub-organizations/page.tsx'), 'SubOrganizationsPage'),
  errorComponent: PageError,
});
const operationsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/operations',
  component: lazyRouteComponent(() => import('../pages/operations/page.tsx'), 'OperationsPage'),
  errorComponent: PageError,
});

const routeTree = rootRoute.addChildren([
  signInRoute,
  shellRoute.addChildren([
    indexRoute,
    inboxRoute.addChildren([inboxItemRoute]),
    activitiesRoute,
    activityRoute,
    walletsRoute,
    walletRoute,
    policiesRoute,
    policyRoute,
    peopleRoute,
    webhooksRoute,
    webhookRoute,
    sendsRoute,
    earnRoute,
    subOrganizationsRoute,
    operationsRoute,
  ]),
]);

export const router = createRouter({
  routeTree,
  basepath: '/console',
  defaultPreload: 'intent',
  // Pages ask through the query cache, which knows what is old.
  defaultPreloadStaleTime: 0,
  defaultNotFoundComponent: NotFoundPage,
  defaultErrorComponent: PageError,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
