import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { databasesOf } from '../../harness/databases.ts';
import { appParams, manifestOf, newDeployment, newOperator, operatorParams } from '../../harness/deployments.ts';
import { anId, expectError, liveOf, many, openDeployments, shownOperator, TIMES } from './support.ts';

describe.each(databasesOf(import.meta.url))('deployments on %s', (database) => {
  const suite = openDeployments(database);

  test('a set with the same name, threshold and members is the same set', async () => {
    const operators = many(3, newOperator);
    const params = appParams(operators, 2);
    const first = await suite.root.run('create_tvc_app', params);
    const again = await suite.root.run('create_tvc_app', { ...params, name: 'Another app' });
    expect(again).toEqual({ ...first, appId: anId });
    expect(again.appId).not.toBe(first.appId);
    const ids: string[] = first.manifestSetOperatorIds;
    const { manifestSetParams, shareSetParams, ...rest } = params;
    // The same members by their ids and in another order; the same set by its id.
    const byIds = {
      name: manifestSetParams.name,
      threshold: 2,
      newOperators: [operatorParams(operators[1]!)],
      existingOperatorIds: [ids[2], ids[0]],
    };
    const third = await suite.root.run('create_tvc_app', {
      ...rest,
      manifestSetParams: byIds,
      shareSetId: first.shareSetId,
    });
    expect(third).toEqual({ ...first, appId: anId });
    // Another name, threshold or member makes another set, of the same operators.
    for (const change of [{ name: 'Another set' }, { threshold: 3 }, { existingOperatorIds: [ids[0]], threshold: 2 }]) {
      const other = await suite.root.run('create_tvc_app', {
        ...rest,
        manifestSetParams: { ...byIds, ...change },
        shareSetId: first.shareSetId,
      });
      expect(other.manifestSetId).not.toBe(first.manifestSetId);
      expect(ids).toEqual(expect.arrayContaining(other.manifestSetOperatorIds));
    }
    // One set can be both, and an operator is listed once.
    const both = await suite.root.run('create_tvc_app', {
      ...rest,
      manifestSetId: first.shareSetId,
      shareSetId: first.shareSetId,
    });
    expect([both.manifestSetId, both.shareSetId]).toEqual([first.shareSetId, first.shareSetId]);
    const { tvcOperators } = (await suite.root.query('list_tvc_operators')).body;
    for (const { name, key } of operators) {
      expect(tvcOperators.filter((one: { name: string }) => one.name === name)).toEqual([
        shownOperator(name, key.publicKey),
      ]);
    }
  });

  test('an operator of a wallet signs with an account of it', async () => {
    const path = "m/5527107'/0'/0'";
    const created = await suite.root.run('create_tvc_operator', {
      walletName: `Operators ${randomUUID()}`,
      path,
      operatorName: 'Hosted',
    });
    expect(created).toEqual({
      walletId: anId,
      operatorId: anId,
      encryptPublicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
      signPublicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
    });
    const { walletId, operatorId, encryptPublicKey, signPublicKey } = created;
    expect(encryptPublicKey).not.toBe(signPublicKey);
    const { accounts } = (await suite.root.query('list_wallet_accounts', { walletId })).body;
    expect(accounts).toMatchObject([
      { path: `${path}/0`, curve: 'CURVE_P256', address: encryptPublicKey, publicKey: encryptPublicKey },
      { path: `${path}/1`, curve: 'CURVE_P256', address: signPublicKey, publicKey: signPublicKey },
    ]);
    const { tvcOperators } = (await suite.root.query('list_tvc_operators')).body;
    expect(tvcOperators.find(({ id }: { id: string }) => id === operatorId)).toEqual({
      id: operatorId,
      name: 'Hosted',
      publicKey: `${encryptPublicKey}${signPublicKey}`,
      ...TIMES,
      encryptPublicKey,
      signPublicKey,
      keySource: 'ORG_WALLET_ACCOUNT',
    });

    // A second one in the same wallet, under another path.
    const second = await suite.root.run('create_tvc_operator', {
      walletId,
      path: "m/5527107'/0'/1h",
      operatorName: 'Second',
    });
    expect(second.walletId).toBe(walletId);
    expect(new Set([encryptPublicKey, signPublicKey, second.encryptPublicKey, second.signPublicKey]).size).toBe(4);
    const again = await suite.root.submit('create_tvc_operator', { walletId, path, operatorName: 'Third' });
    expectError(again, 409, 'ALREADY_EXISTS');

    const app = await suite.root.run('create_tvc_app', {
      ...appParams(),
      manifestSetParams: { name: 'Hosted', existingOperatorIds: [operatorId, second.operatorId], threshold: 2 },
    });
    const { deploymentId, manifestId } = await newDeployment(suite.root, app);
    const payload = (await manifestOf(suite.root, deploymentId)).toString('hex');
    const approvals = [];
    for (const signer of [created, second]) {
      const { r, s } = await suite.root.run('sign_raw_payload', {
        signWith: signer.signPublicKey,
        payload,
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_SHA256',
      });
      approvals.push({ operatorId: signer.operatorId, signature: `${r}${s}` });
    }
    await suite.root.run('create_tvc_manifest_approvals', { manifestId, approvals });
    expect(await liveOf(suite.root, app)).toBe(deploymentId);
  });
});
