import { type CustosClient, createClient, type Stamper } from '@custos/sdk';
import { useOrganization } from '../session/organization.ts';
import { useSessionOrThrow } from '../session/session.ts';
import { watchedFetch } from './connection.ts';

/** A person waits: what takes longer is shown as lost, and can be repeated with the same bytes. */
const TIMEOUT_MS = 20_000;

export const clientBy = (stamper: Stamper, organizationId: string): CustosClient =>
  createClient({
    baseUrl: location.origin,
    organizationId,
    stamper,
    fetch: watchedFetch,
    timeoutMs: TIMEOUT_MS,
    totalTimeoutMs: TIMEOUT_MS,
    retryAttempts: 1,
  });

const clients = new WeakMap<Stamper, Map<string, CustosClient>>();

/** One for all who ask: what gathers the questions of many rows knows them by their client. */
function sharedClient(stamper: Stamper, organizationId: string): CustosClient {
  const known = clients.get(stamper) ?? new Map<string, CustosClient>();
  clients.set(stamper, known);
  const client = known.get(organizationId) ?? clientBy(stamper, organizationId);
  known.set(organizationId, client);
  return client;
}

/** Acts by the session key, in the organization that is shown. */
export function useClient(): CustosClient {
  const { key } = useSessionOrThrow();
  const { organizationId } = useOrganization();
  return sharedClient(key, organizationId);
}
