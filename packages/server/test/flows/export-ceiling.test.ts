import { describe, expect, test, vi } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { encryptTo, newSecretTargets, Receiver } from '../harness/bundles.ts';
import { createSubOrganization } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { approve, needTwo, newWallet, outcome } from './fixtures/wallets.ts';

describe.each(databasesOf(import.meta.url))('more exports than a minute may have, on %s', (database) => {
  const start = (perOrganization: number, inAll: number): Promise<TestApp> => {
    const env = {
      CUSTOS_ORGANIZATION_EXPORTS_PER_MINUTE: String(perOrganization),
      CUSTOS_EXPORTS_PER_MINUTE: String(inAll),
    };
    return openTestApp(database, env);
  };

  test('answer 429 with Retry-After, export nothing, and stop nothing else', async () => {
    await using service = await start(2, 3);
    const parent = service.root;
    const { publicKey: targetPublicKey } = new Receiver();
    const [one, other] = [await createSubOrganization(parent, 'One'), await createSubOrganization(parent, 'Other')];
    const { walletId } = await newWallet(one);
    await one.run('export_wallet', { walletId, targetPublicKey });
    const { walletId: kept } = await newWallet(one);
    await one.run('export_wallet', { walletId, targetPublicKey });
    const refused = await one.submit('export_wallet', { walletId: kept, targetPublicKey });
    expect([refused.status, refused.body.message]).toEqual([
      429,
      'the keyring makes 2 exports a minute of one organization',
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect((await one.query('get_wallet', { walletId: kept })).body.wallet.exported).toBe(false);
    const theirs = await newWallet(other);
    await other.run('export_wallet', { walletId: theirs.walletId, targetPublicKey });
    const last = await other.submit('export_wallet', { walletId: theirs.walletId, targetPublicKey });
    expect([last.status, last.body.message]).toEqual([429, 'the keyring makes 3 exports a minute in all']);
    await newWallet(other);
  });

  test('count the secrets of one request together: all, none, or never', async () => {
    await using service = await start(3, 0);
    const root = service.root;
    const encryptionSuite = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';
    const targets = await newSecretTargets(root, 4);
    const items = targets.map((targetPublicKey, index) => ({
      name: `secret-${index}`,
      secretPayload: encryptTo(targetPublicKey, `secret ${index}`),
      targetPublicKey,
      encryptionSuite,
    }));
    const { secretIds } = await root.run('import_secrets', { secrets: items });
    const { publicKey: targetPublicKey } = new Receiver();
    const exported = (count: number) => {
      const ids: string[] = secretIds.slice(0, count);
      return root.submit('export_secrets', {
        secrets: ids.map((secretId) => ({ secretId, targetPublicKey, encryptionSuite })),
      });
    };
    const never = await exported(4);
    expect([never.status, never.body.errorCode, never.headers.get('retry-after')]).toEqual([
      400,
      'FAILED_PRECONDITION',
      null,
    ]);
    expect(never.body.message).toContain('this asks for 4 at once');
    expect((await exported(2)).status).toBe(200);
    const refused = await exported(2);
    expect(outcome(refused)).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // What was refused used up nothing.
    expect((await exported(1)).status).toBe(200);
  });

  test('are counted once for each request, also when the decision has to be taken again', async () => {
    await using service = await openTestApp(database);
    const { root, app } = service;
    const { publicKey: targetPublicKey } = new Receiver();
    const { walletId, addresses } = await newWallet(root);
    const { privateKeys } = await root.run('create_private_keys', {
      privateKeys: [{ privateKeyName: 'Key', curve: 'CURVE_ED25519', addressFormats: [], privateKeyTags: [] }],
    });
    const encryptionSuite = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';
    const [secretTarget = ''] = await newSecretTargets(root, 1);
    const secret = {
      name: 'secret',
      secretPayload: encryptTo(secretTarget, 'secret'),
      targetPublicKey: secretTarget,
      encryptionSuite,
    };
    const { secretIds } = await root.run('import_secrets', { secrets: [secret] });
    const wanted = [
      ['exportWallet', 'export_wallet', { walletId, targetPublicKey }],
      ['exportAccount', 'export_wallet_account', { address: addresses[0], targetPublicKey }],
      ['exportPrivateKey', 'export_private_key', { privateKeyId: privateKeys[0].privateKeyId, targetPublicKey }],
      ['exportSecrets', 'export_secrets', { secrets: [{ secretId: secretIds[0], targetPublicKey, encryptionSuite }] }],
    ] as const;
    const attempts = vi.spyOn(app.storage, 'write');
    for (const [call, operation, parameters] of wanted) {
      const before: (...args: never[]) => Promise<unknown> = app.keyring[call].bind(app.keyring);
      const exported = vi.spyOn(app.keyring, call);
      let velocityControlId = '';
      // A control that comes while the key is exported: what was prepared without it is thrown away.
      exported.mockImplementationOnce(async (...args: unknown[]) => {
        const bundle = await before(...(args as never[]));
        ({ velocityControlId } = await root.run('create_velocity_control', {
          name: 'many',
          identifier: call,
          dataSource: { activityExecution: {} },
          aggregation: {
            method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT',
            operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN',
            threshold: '1000',
            window: { rolling: { duration: '1h' } },
            groupBy: { organization: {} },
          },
        }));
        return bundle as never;
      });
      attempts.mockClear();
      await root.run(operation, parameters);
      expect([call, exported.mock.calls.length]).toEqual([call, 1]);
      // The control's own, the one that came to nothing, and the one that stands.
      expect([call, attempts.mock.calls.length]).toEqual([call, 3]);
      await root.run('delete_velocity_control', { velocityControlId });
    }
  });

  test('leave what others have approved open: the vote can be given again', async () => {
    await using service = await start(1, 0);
    const { publicKey: targetPublicKey } = new Receiver();
    const first = service.root;
    const { walletId } = await newWallet(first);
    const { walletId: kept } = await newWallet(first);
    await first.run('export_wallet', { walletId, targetPublicKey });
    const second = await needTwo(first);
    const { id, fingerprint } = (await first.submit('export_wallet', { walletId: kept, targetPublicKey })).body
      .activity;
    for (let vote = 0; vote < 2; vote += 1) {
      const refused = await approve(second, fingerprint);
      expect(outcome(refused)).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    const { activity } = (await first.query('get_activity', { activityId: id })).body;
    expect([activity.status, activity.votes.length]).toEqual(['ACTIVITY_STATUS_CONSENSUS_NEEDED', 1]);
  });
});
