import { afterAll, beforeAll } from 'vitest';
import type { DatabaseKind } from '../../harness/databases.ts';
import { LOOPBACK, Oauth2Providers } from '../fixtures/oauth.ts';
import { ProxyWorld } from '../fixtures/proxy.ts';

/** Opened before the tests of a file, closed after them. */
export function openProxy(database: DatabaseKind) {
  let world: ProxyWorld;
  let providers: Oauth2Providers;

  beforeAll(async () => {
    providers = await Oauth2Providers.start();
    world = await ProxyWorld.open(database, { ...LOOPBACK, ...providers.env });
  });

  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await providers[Symbol.asyncDispose]();
  });

  return {
    get world() {
      return world;
    },
    get providers() {
      return providers;
    },
  };
}
