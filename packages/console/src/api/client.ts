import { type CustosClient, createClient, type Stamper } from '@custos/sdk';
import { useMemo } from 'react';
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

/** Acts by the session key, in the organization that is shown. */
export function useClient(): CustosClient {
  const { key } = useSessionOrThrow();
  const { organizationId } = useOrganization();
  return useMemo(() => clientBy(key, organizationId), [key, organizationId]);
}
