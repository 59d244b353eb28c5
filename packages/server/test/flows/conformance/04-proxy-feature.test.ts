import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { modelOf } from '../../../src/domains/users/render/authenticator-models.ts';
import { newPasskey } from '../../fixtures/passkey.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createSubOrganization, createUser, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { outcome, PENDING } from '../fixtures/access.ts';

const name = 'FEATURE_NAME_AUTH_PROXY';

describe.each(databasesOf(import.meta.url))('the feature of the sign-up proxy on %s', (database) => {
  let app: TestApp;
  let root: TestClient;

  beforeAll(async () => {
    app = await openTestApp(database);
    root = app.root;
  });
  afterAll(async () => await app[Symbol.asyncDispose]());

  const feature = async (): Promise<string | undefined> =>
    (await root.query('get_organization_configs')).body.configs.features.find(
      (each: { name: string }) => each.name === name,
    )?.value;
  const config = async () => (await root.query('get_auth_proxy_config')).body.authProxyConfig;
  /** What a caller of the proxy is told. */
  async function call(configId: string): Promise<number> {
    const { status } = await fetch(`${app.baseUrl}/v1/wallet_kit_config`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-auth-proxy-config-id': configId },
      body: '{}',
    });
    return status;
  }

  test('turns the proxy on and off, and the list shows what is so', async () => {
    // The first organization has a proxy from the start.
    expect([await feature(), (await config()).enabled]).toEqual(['true', true]);
    await root.run('disable_auth_proxy', {});
    const { features } = await root.run('set_organization_feature', { name, value: '' });
    expect(features).toContainEqual({ name, value: '' });
    const { configId, enabled, userId } = await config();
    expect(enabled).toBe(true);
    expect((await root.query('get_user', { userId })).status).toBe(200);
    expect(await call(configId)).toBe(200);
    const removed = await root.run('remove_organization_feature', { name });
    expect(removed.features.map((each: { name: string }) => each.name)).not.toContain(name);
    expect((await config()).enabled).toBe(false);
    expect(await call(configId)).toBe(404);
    await root.run('set_organization_feature', { name, value: 'true' });
    expect(await config()).toMatchObject({ configId, enabled: true, userId });
    await root.run('set_organization_feature', { name, value: 'false' });
    expect([await feature(), (await config()).enabled, await call(configId)]).toEqual(['false', false, 404]);
  });

  test('follows the operations of the proxy', async () => {
    await root.run('enable_auth_proxy', {});
    expect([await feature(), (await config()).enabled]).toEqual(['true', true]);
    await root.run('disable_auth_proxy', {});
    expect([await feature(), (await config()).enabled]).toEqual([undefined, false]);
  });

  test('is for parents alone', async () => {
    const child = await createSubOrganization(root, 'Child');
    const refused = await child.submit('set_organization_feature', { name, value: 'true' });
    expect(outcome(refused)).toEqual([400, 'INVALID_FEATURE_VALUE']);
    expect(refused.body.message).toContain('parent');
  });

  test('waits for the root quorum', async () => {
    const second = await createUser(root, 'Second');
    const userIds = [root.userId, second.userId];
    await root.run('update_root_quorum', { threshold: 2, userIds });
    const proposed = await root.submit('set_organization_feature', { name, value: 'true' });
    expect(outcome(proposed)).toEqual([200, PENDING]);
    expect((await config()).enabled).toBe(false);
    const { fingerprint } = proposed.body.activity;
    expect((await second.submit('approve_activity', { fingerprint })).status).toBe(200);
    expect((await config()).enabled).toBe(true);
  });
});

describe('the model of an authenticator', () => {
  const TITAN = '42b4fb4a-2866-43b2-9bf7-6c6669c2e5d3';

  test('is the name of a well-known AAGUID, else empty', async () => {
    await using app = await openTestApp('sqlite');
    const { root } = app;
    const authenticators = [newPasskey('known', TITAN), newPasskey('unknown')].map(({ registration }) => registration);
    await root.run('create_authenticators', { userId: root.userId, authenticators });
    const listed = (await root.query('get_authenticators', { userId: root.userId })).body.authenticators;
    const models = listed.map((each: { authenticatorName: string; model: string }) => [
      each.authenticatorName,
      each.model,
    ]);
    expect(Object.fromEntries(models)).toEqual({ known: 'Google Titan Security Key v2', unknown: '' });
    expect(listed.find((each: { model: string }) => each.model !== '').aaguid).toBe(TITAN);
  });

  test('is not read from what every object has', () => {
    expect(modelOf('constructor')).toBe('');
  });
});
