import { vi } from 'vitest';
import { raiseFence } from '../../src/fence/raise.ts';
import { type AcceptOptions, acceptRestore } from '../../src/fence-accept/accept.ts';
import { LIMITS } from '../../src/lib/limits.ts';
import { LoginService } from '../flows/fixtures/logins.ts';
import type { TestApp } from '../harness/app.ts';
import type { DatabaseKind } from '../harness/databases.ts';

// A service whose database looks, from one start to the next, as a restore from a backup leaves it.

export const FENCED = [400, 'FENCED'];
export const ISSUED_BEFORE = [400, 'ISSUED_BEFORE_RESTORE'];

/** So much later bodies of now are later than any that may have run before the restore. */
export const BEYOND_BODIES_MS = LIMITS.liveAfterMs + 60_000;

export const openLogins = (database: DatabaseKind, env: Record<string, string> = {}): Promise<LoginService> =>
  LoginService.open(database, { CUSTOS_KEYRING: 'inline', CUSTOS_OTP_REQUESTS: '0', ...env });

interface Restore {
  readonly exhaust?: boolean;
  readonly restoredAtMs?: number;
}

/** Starts the service again, on a database that was restored meanwhile, by its own clock. */
export async function restore(service: TestApp, { exhaust = false, restoredAtMs }: Restore = {}): Promise<void> {
  const nowMs = restoredAtMs ?? service.app.clock();
  await service.restart((storage) =>
    storage.write((store) =>
      raiseFence(store, { backupId: 'a backup', snapshotAtMs: nowMs - 60_000, restoredAtMs: nowMs, exhaust }),
    ),
  );
}

/** As `custos restore accept` does beside the service; it has followed when this returns. */
export async function accept(
  { app }: TestApp,
  { organizationId, ...options }: Partial<AcceptOptions> = {},
): Promise<void> {
  const { config, storage } = app;
  await acceptRestore(config, { organizationId, confirm: async () => true, ...options });
  const isHeld = (): boolean =>
    organizationId === undefined
      ? storage.fence.isUp
      : storage.fence.holds({ id: organizationId, parentId: undefined });
  await vi.waitFor(
    () => {
      if (isHeld()) throw new Error('the service has not followed yet');
    },
    { timeout: 10_000, interval: 20 },
  );
}
