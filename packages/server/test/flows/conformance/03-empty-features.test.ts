import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newPasskey } from '../../fixtures/passkey.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createSubOrganization } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { COMPLETED, outcome } from '../fixtures/access.ts';
import { LOOPBACK } from '../fixtures/oauth.ts';

const NAMES = [
  'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY',
  'FEATURE_NAME_WEBAUTHN_ORIGINS',
  'FEATURE_NAME_EMAIL_AUTH',
  'FEATURE_NAME_EMAIL_RECOVERY',
  'FEATURE_NAME_WEBHOOK',
  'FEATURE_NAME_SMS_AUTH',
  'FEATURE_NAME_OTP_EMAIL_AUTH',
  'FEATURE_NAME_AUTH_PROXY',
  'FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED',
  'FEATURE_NAME_SWAP_CONFIG',
  'FEATURE_NAME_EARN_CONFIG',
];

describe.each(databasesOf(import.meta.url))('set_organization_feature on %s', (database) => {
  let app: TestApp;

  beforeAll(async () => {
    app = await openTestApp(database, LOOPBACK);
  });
  afterAll(async () => await app[Symbol.asyncDispose]());

  test.each(NAMES)('%s takes an empty value, and no absent one', async (name) => {
    const set = await app.root.submit('set_organization_feature', { name, value: '' });
    expect(outcome(set)).toEqual([200, COMPLETED]);
    const { features } = set.body.activity.result.setOrganizationFeatureResult;
    expect(features).toContainEqual({ name, value: '' });
    const absent = await app.root.submit('set_organization_feature', { name });
    expect(outcome(absent)).toEqual([400, 'REQUEST_INVALID']);
  });

  test('an empty list of origins allows any, as none does', async () => {
    const { root } = app;
    const name = 'FEATURE_NAME_WEBAUTHN_ORIGINS';
    const register = () =>
      root.submit('create_authenticators', {
        userId: root.userId,
        authenticators: [newPasskey(`p ${Math.random()}`).registration],
      });
    await root.run('set_organization_feature', { name, value: 'https://elsewhere.example' });
    expect((await register()).status).not.toBe(200);
    await root.run('set_organization_feature', { name, value: '' });
    expect(outcome(await register())).toEqual([200, COMPLETED]);
  });

  test('an empty webhook address ends the endpoint of the feature', async () => {
    const child = await createSubOrganization(app.root, 'Hooked');
    const name = 'FEATURE_NAME_WEBHOOK';
    const endpoints = async () => (await child.query('list_webhook_endpoints')).body.webhookEndpoints;
    await child.run('set_organization_feature', { name, value: 'http://127.0.0.1:9/hook' });
    expect(await endpoints()).toHaveLength(1);
    await child.run('set_organization_feature', { name, value: '' });
    expect(await endpoints()).toEqual([]);
  });
});
