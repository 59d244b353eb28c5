import type { Keyring } from '@custos/keyring';
import type { Logger } from 'pino';
import { FailedAuthLimit } from './authn/failed-auth-limit.ts';
import type { Config } from './config/config.ts';
import { type Clock, systemClock } from './lib/clock.ts';
import { randomId } from './lib/ids.ts';
import type { ServiceKey } from './lib/model.ts';
import { Observer } from './observe.ts';
import type { App } from './pipeline/app.ts';
import { Rulebooks } from './pipeline/rulebooks.ts';
import { UserRecords } from './pipeline/user-records.ts';
import { createInterfaceCache } from './policy-facts/contract-interface.ts';
import type { Storage } from './storage/storage.ts';

/** What a process must have opened before the service can be put together. */
export interface Parts {
  readonly config: Config;
  readonly storage: Storage;
  readonly keyring: Keyring;
  readonly serviceKeys: readonly ServiceKey[];
  readonly log: Logger;
  readonly clock?: Clock;
}

/** The composition root: every dependency is built here, once, and handed down. */
export function buildApp({ config, storage, keyring, serviceKeys, log, clock = systemClock }: Parts): App {
  return {
    config,
    clock,
    newId: randomId,
    storage,
    keyring,
    serviceKeys,
    // Loaded with the first registration, see authn/authenticate.ts.
    attestations: {
      verify: async (input, origins) => (await import('./authn/attestation.ts')).verifyAttestation(input, origins),
    },
    userRecords: new UserRecords(),
    rulebooks: new Rulebooks(storage.read),
    interfaces: createInterfaceCache(),
    failedAuth: new FailedAuthLimit(config.failedAuthPerMinute, clock),
    observe: new Observer(log),
  };
}
