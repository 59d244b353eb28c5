import { createECDH, createHash, ECDH, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { UNSERVED_REASONS, WIRE_SUBMITS } from '../../../src/reference/wire-operations.ts';
import { type Answer, newKeyPair, send } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import {
  type App,
  appParams,
  approvalsOf,
  deploymentParams,
  manifestOf,
  newApp,
  newDeployment,
  newOperator,
  operatorParams,
  setParams,
  signBytes,
} from '../../harness/deployments.ts';
import { expectError, getApp, getDeployment, liveOf, many, openDeployments, shownOperator } from './support.ts';

describe.each(databasesOf(import.meta.url))('deployments on %s', (database) => {
  const suite = openDeployments(database);
  const { approve } = suite;

  test('wrong signatures and strangers are refused, and nothing of such a request is kept', async () => {
    const operators = many(2, newOperator);
    const stranger = newOperator();
    const app = await newApp(suite.root, operators, 1, { shareSetParams: setParams([stranger, newOperator()], 2) });
    const { deploymentId, manifestId } = await newDeployment(suite.root, app);
    const other = await newDeployment(suite.root, app);
    const manifest = await manifestOf(suite.root, deploymentId);
    const [operatorId, secondId] = app.manifestSetOperatorIds as [string, string];
    const key = operators[0]!.key;
    const good = signBytes(key, manifest);
    const goodDer = signBytes(key, manifest, 'der');
    const altered = Buffer.from(manifest);
    altered[altered.length - 2]! ^= 1;
    const WRONG: readonly (readonly [string, string, string, RegExp])[] = [
      [
        'another key',
        operatorId,
        signBytes(operators[1]!.key, manifest),
        /approvals\.0\.signature: must be a signature/,
      ],
      ['another deployment', operatorId, signBytes(key, await manifestOf(suite.root, other.deploymentId)), /signature/],
      ['altered bytes', operatorId, signBytes(key, altered), /signature/],
      ['the base64 text', operatorId, signBytes(key, Buffer.from(manifest.toString('base64'))), /signature/],
      ['the digest', operatorId, signBytes(key, createHash('sha256').update(manifest).digest()), /signature/],
      ['r and s swapped', operatorId, good.slice(64) + good.slice(0, 64), /signature/],
      ['zeros', operatorId, '00'.repeat(64), /signature/],
      ['DER with a byte more', operatorId, `${goodDer}00`, /hexadecimal/],
      ['not hex', operatorId, `0x${good}`, /hexadecimal/],
      ['half a byte', operatorId, good.slice(1), /hexadecimal/],
      ['empty', operatorId, '', /hexadecimal/],
      ['somebody else’s id', secondId, good, /signature/],
      [
        'a holder of shares',
        app.shareSetOperatorIds[0]!,
        signBytes(stranger.key, manifest),
        /approvals\.0\.operatorId/,
      ],
      ['nobody', randomUUID(), good, /approvals\.0\.operatorId: must be an operator of the manifest set/],
    ];
    for (const [what, id, signature, reason] of WRONG) {
      const answer = await approve(manifestId, [{ operatorId: id, signature }]);
      expectError(answer, 400, 'REQUEST_INVALID', reason);
      expect(answer.body.code, what).toBe(3);
      // One that is good does not carry a bad one in, whichever comes first.
      const mixed = await approve(manifestId, [
        { operatorId, signature: good },
        { operatorId: id, signature },
      ]);
      expectError(mixed, 400, 'REQUEST_INVALID');
    }
    expect((await getDeployment(suite.root, deploymentId)).manifestApprovals).toEqual([]);
    expect(await liveOf(suite.root, app)).toBeUndefined();
    expectError(await approve(randomUUID(), [{ operatorId, signature: good }]), 404, 'RESOURCE_NOT_FOUND');
    expectError(await approve(deploymentId, [{ operatorId, signature: good }]), 404, 'RESOURCE_NOT_FOUND');
    expectError(await approve(manifestId, []), 400, 'REQUEST_INVALID');
    expect((await approve(manifestId, [{ operatorId, signature: goodDer }])).status).toBe(200);
    expect(await liveOf(suite.root, app)).toBe(deploymentId);
  });

  test('what is deleted is neither approved nor live, and what is not is not restored', async () => {
    const app = await newApp(suite.root, many(2, newOperator), 2);
    const { deploymentId, manifestId } = await newDeployment(suite.root, app);
    const approvals = await approvalsOf(suite.root, app, deploymentId, 0, 1);
    const act = (operation: string, id = deploymentId) => suite.root.submit(operation, { deploymentId: id });
    expectError(await act('restore_tvc_deployment'), 400, 'FAILED_PRECONDITION', /is not deleted/);
    expect((await act('restore_tvc_deployment')).body.code).toBe(9);
    await suite.root.run('delete_tvc_deployment', { deploymentId });
    expectError(await act('delete_tvc_deployment'), 400, 'FAILED_PRECONDITION', /already deleted/);
    expectError(await approve(manifestId, approvals), 400, 'FAILED_PRECONDITION', /deleted; restore it first/);
    expectError(await act('set_tvc_app_live_deployment'), 400, 'FAILED_PRECONDITION', /deleted; restore it first/);
    expect((await getDeployment(suite.root, deploymentId)).manifestApprovals).toEqual([]);
    await suite.root.run('restore_tvc_deployment', { deploymentId });
    await suite.root.run('create_tvc_manifest_approvals', { manifestId, approvals });
    expect(await liveOf(suite.root, app)).toBe(deploymentId);
    // To choose what is live already changes nothing.
    await suite.root.run('set_tvc_app_live_deployment', { deploymentId });
    expect(await liveOf(suite.root, app)).toBe(deploymentId);
    for (const operation of ['restore_tvc_deployment', 'delete_tvc_deployment', 'set_tvc_app_live_deployment']) {
      expectError(await act(operation, randomUUID()), 404, 'RESOURCE_NOT_FOUND', /deployment not found/);
      expectError(await act(operation, app.appId), 404, 'RESOURCE_NOT_FOUND');
    }
  });

  test('debug mode needs an app that was made for it, and one replica', async () => {
    const strict = await newApp(suite.root);
    const create = (app: App, extra: object) =>
      suite.root.submit('create_tvc_deployment', { ...deploymentParams(app.appId), ...extra });
    expect((await create(strict, { debugMode: false, replicas: 2 })).status).toBe(200);
    expectError(await create(strict, { debugMode: true }), 400, 'REQUEST_INVALID', /parameters\.debugMode/);
    const open = await newApp(suite.root, undefined, 1, { enableDebugModeDeployments: true });
    expect(await getApp(suite.root, open)).toMatchObject({ enableDebugModeDeployments: true });
    expectError(await create(open, { debugMode: true, replicas: 2 }), 400, 'REQUEST_INVALID', /parameters\.replicas/);
    for (const [extra, replicas] of [
      [{ debugMode: true }, 1],
      [{ debugMode: true, replicas: 1 }, 1],
      [{}, 3],
    ] as const) {
      const { body } = await create(open, extra);
      const { deploymentId } = body.activity.result.createTvcDeploymentResult;
      const manifest = JSON.parse((await manifestOf(suite.root, deploymentId)).toString('utf8'));
      expect(manifest).toMatchObject({ debugMode: 'debugMode' in extra, replicas });
      expect(await getDeployment(suite.root, deploymentId)).toMatchObject({ debugMode: 'debugMode' in extra });
    }
  });

  test('deployments that make no sense are refused by field', async () => {
    const { appId } = await newApp(suite.root);
    const good = deploymentParams(appId);
    const create = (extra: object) => suite.root.submit('create_tvc_deployment', { ...good, ...extra });
    expect((await create({})).status).toBe(200);
    for (const [field, ...values] of [
      ['qosVersion', '', 'a\nb', 'x'.repeat(101), 1],
      ['pivotContainerImageUrl', '', 'x'.repeat(2049), 'a\u0000b'],
      ['pivotPath', '', '/a\u0007'],
      ['pivotArgs', 'text', [1], ['\u0000'], many(5, () => 'x'.repeat(4096)), many(1001, () => '')],
      ['expectedPivotDigest', '', 'x'.repeat(256)],
      ['nonce', -1, 1.5, '7', 2 ** 53],
      ['pivotContainerEncryptedPullSecret', 'x'.repeat(16_385), 1],
      ['debugMode', 'true'],
      ['healthCheckType', 'TVC_HEALTH_CHECK_TYPE_TCP', 'http'],
      ['healthCheckPort', 0, 65_536, '3000', 30.5],
      ['publicIngressPort', 0, 65_536, null],
      ['replicas', 0, 1001, '3'],
      ['instanceSizeCpus', 0, 2.5],
      ['instanceSizeRam', 0],
      ['appId', 'mine'],
    ] as const) {
      for (const value of values) {
        const { status, body } = await create({ [field]: value });
        expect({ status, value }, JSON.stringify(body)).toEqual({ status: 400, value });
        // A number that no double holds is refused before its field is known.
        if (value !== 2 ** 53) expect(body.message).toMatch(new RegExp(`parameters\\.${field}`));
      }
    }
    expectError(await create({ appId: randomUUID() }), 404, 'RESOURCE_NOT_FOUND', /app not found/);
    // An empty pull secret is none.
    const { body } = await create({ pivotContainerEncryptedPullSecret: '' });
    const { deploymentId } = body.activity.result.createTvcDeploymentResult;
    expect((await getDeployment(suite.root, deploymentId)).pivotContainer.hasPullSecret).toBe(false);
  });

  test('operator sets that cannot be are refused', async () => {
    const operators = many(3, newOperator);
    const good = appParams(operators, 2);
    const { manifestSetId, manifestSetOperatorIds, shareSetId } = await suite.root.run('create_tvc_app', good);
    const { manifestSetParams, shareSetParams, ...rest } = good;
    const create = (change: object) => suite.root.submit('create_tvc_app', { ...good, ...change });
    const manifestSet = (change: object) => create({ manifestSetParams: { ...manifestSetParams, ...change } });
    const shareSet = (change: object) => create({ shareSetParams: { ...shareSetParams, ...change } });
    expect((await manifestSet({})).status).toBe(200);
    const invalid = async (answer: Promise<Answer>, field: RegExp) =>
      expectError(await answer, 400, 'REQUEST_INVALID', field);
    // Exactly one of id and parameters.
    await invalid(
      suite.root.submit('create_tvc_app', { ...rest, shareSetId }),
      /manifestSetParams: give manifestSetId or/,
    );
    await invalid(suite.root.submit('create_tvc_app', { ...rest, manifestSetId }), /shareSetParams/);
    await invalid(create({ manifestSetId }), /manifestSetId/);
    await invalid(create({ shareSetId }), /shareSetId/);
    // Thresholds.
    await invalid(manifestSet({ threshold: 4 }), /manifestSetParams\.threshold: must be from 1 to .* \(3\)/);
    await invalid(manifestSet({ threshold: 0 }), /manifestSetParams\.threshold/);
    await invalid(shareSet({ threshold: 1 }), /shareSetParams\.threshold: must be from 2/);
    const single = await suite.root.run('create_tvc_app', {
      ...good,
      manifestSetParams: { ...manifestSetParams, threshold: 1 },
    });
    await invalid(
      suite.root.submit('create_tvc_app', { ...rest, manifestSetId, shareSetId: single.manifestSetId }),
      /shareSetId: must be a set with a threshold of 2/,
    );
    // Members.
    await invalid(manifestSet({ newOperators: [] }), /must have 1 to 50 operators/);
    await invalid(manifestSet({ newOperators: [], existingOperatorIds: [] }), /must have 1 to 50 operators/);
    await invalid(manifestSet({ newOperators: many(51, () => operatorParams(newOperator())) }), /newOperators/);
    const fifty = many(50, () => operatorParams(newOperator()));
    await invalid(
      manifestSet({ newOperators: fifty, existingOperatorIds: [manifestSetOperatorIds[0]] }),
      /must have 1 to 50 operators/,
    );
    expect((await manifestSet({ newOperators: fifty, threshold: 50 })).status).toBe(200);
    const [one] = manifestSetParams.newOperators;
    const twice = [
      one,
      { ...one, publicKey: ECDH.convertKey(one!.publicKey, 'prime256v1', 'hex', 'hex', 'uncompressed') },
    ];
    await invalid(manifestSet({ newOperators: twice }), /names the same public key twice/);
    const [id] = manifestSetOperatorIds;
    await invalid(manifestSet({ existingOperatorIds: [id, id] }), /existingOperatorIds: names the same operator twice/);
    await invalid(manifestSet({ existingOperatorIds: [id] }), /names the same operator twice/);
    const renamed = { ...one, name: 'Somebody else' };
    expectError(
      await manifestSet({ newOperators: [renamed], threshold: 1 }),
      400,
      'REQUEST_INVALID',
      /the same key has in the other/,
    );
    expectError(
      await suite.root.submit('create_tvc_app', {
        ...rest,
        shareSetId,
        manifestSetParams: { ...manifestSetParams, newOperators: [renamed], threshold: 1 },
      }),
      409,
      'ALREADY_EXISTS',
      /under another name; give its id in existingOperatorIds/,
    );
    // What there is not.
    for (const change of [{ manifestSetParams: { ...manifestSetParams, existingOperatorIds: [randomUUID()] } }]) {
      expectError(await create(change), 404, 'RESOURCE_NOT_FOUND', /operator not found/);
    }
    expectError(
      await suite.root.submit('create_tvc_app', { ...rest, manifestSetId: randomUUID(), shareSetId }),
      404,
      'RESOURCE_NOT_FOUND',
      /operator set not found/,
    );
  });

  test('keys are P-256 points, in one spelling, alone or as a pair', async () => {
    const [encrypt, sign, alone] = many(3, newKeyPair);
    const spelled = (hex: string) => ECDH.convertKey(hex, 'prime256v1', 'hex', 'hex', 'uncompressed') as string;
    const set = { name: 'Pairs', threshold: 2 };
    const pair = { name: 'Pair', publicKey: `${spelled(encrypt!.publicKey)}${spelled(sign!.publicKey)}`.toUpperCase() };
    const single = { name: 'Single', publicKey: spelled(alone!.publicKey) };
    const manifestSetParams = { ...set, newOperators: [pair, single] };
    const given = { ...appParams(), quorumPublicKey: pair.publicKey, manifestSetParams };
    const app = await suite.root.run('create_tvc_app', given);
    const shown = await getApp(suite.root, app);
    expect(shown.quorumPublicKey).toBe(`${encrypt!.publicKey}${sign!.publicKey}`);
    expect(shown.manifestSet.operators).toEqual([
      {
        ...shownOperator('Pair', sign!.publicKey),
        publicKey: `${encrypt!.publicKey}${sign!.publicKey}`,
        encryptPublicKey: encrypt!.publicKey,
      },
      shownOperator('Single', alone!.publicKey),
    ]);
    // The second key of a pair signs.
    const { deploymentId, manifestId } = await newDeployment(suite.root, app);
    const manifest = await manifestOf(suite.root, deploymentId);
    const [operatorId] = app.manifestSetOperatorIds;
    const answers = [encrypt!, sign!].map(
      async (key) => (await approve(manifestId, [{ operatorId, signature: signBytes(key, manifest) }])).status,
    );
    expect(await Promise.all(answers)).toEqual([400, 200]);

    const secp256k1 = createECDH('secp256k1').generateKeys('hex', 'compressed');
    const offCurve = `02${'ff'.repeat(32)}`;
    for (const key of [
      '',
      'x',
      secp256k1,
      offCurve,
      `${alone!.publicKey}00`,
      `04${alone!.publicKey.slice(2)}`,
      `0x${alone!.publicKey}`,
      alone!.publicKey + offCurve,
      alone!.publicKey.repeat(2),
    ]) {
      const asQuorumKey = await suite.root.submit('create_tvc_app', { ...appParams(), quorumPublicKey: key });
      // A point of another curve may happen to be one of this curve too.
      if (key !== secp256k1) expectError(asQuorumKey, 400, 'INVALID_PUBLIC_KEY', /parameters\.quorumPublicKey/);
      const wrong = setParams([], 1);
      const newOperators = [{ name: 'Wrong', publicKey: key }];
      const asOperator = await suite.root.submit('create_tvc_app', {
        ...appParams(),
        manifestSetParams: { ...wrong, newOperators },
      });
      if (key !== secp256k1) expectError(asOperator, 400, 'INVALID_PUBLIC_KEY', /newOperators\.0\.publicKey/);
    }
  });

  test('operators of wallets that cannot be are refused', async () => {
    const walletName = `Operators ${randomUUID()}`;
    const good = { walletName, path: "m/1'", operatorName: 'Hosted' };
    const create = (change: object) => suite.root.submit('create_tvc_operator', { ...good, ...change });
    const { walletId } = await suite.root.run('create_tvc_operator', good);
    const nine = `m${'/1'.repeat(9)}`;
    expect((await create({ walletName: `${walletName} 9`, path: nine })).status).toBe(200);
    for (const path of ['', 'm', 'm/', '1/2', "m/1''", 'm/4294967296', 'm/01', `${nine}/1`, ' m/1']) {
      expectError(await create({ walletName: randomUUID(), path }), 400, 'INVALID_PATH', /parameters\.path/);
    }
    expectError(await create({ walletName: null }), 400, 'REQUEST_INVALID', /walletName/);
    expectError(await create({ walletId }), 400, 'REQUEST_INVALID', /not both/);
    expectError(await create({}), 409, 'ALREADY_EXISTS', /wallet with this name/);
    expectError(
      await create({ walletName: null, walletId: randomUUID() }),
      404,
      'RESOURCE_NOT_FOUND',
      /wallet not found/,
    );
    const names = (await suite.root.query('list_tvc_operators')).body.tvcOperators.filter(
      ({ name }: { name: string }) => name === 'Hosted',
    );
    expect(names.length).toBeGreaterThanOrEqual(2);
  });

  test('what needs an enclave or a registry says so', async () => {
    expect([...UNSERVED_REASONS.keys()].sort()).toEqual([
      'create_tvc_quorum_key',
      'get_tvc_deployment_debug_logs',
      'get_tvc_deployment_provisioning_details',
      'get_tvc_qos_versions',
      'post_tvc_quorum_key_share',
      're_encrypt_tvc_quorum_key_share',
      'validate_tvc_image',
    ]);
    for (const [name, reason] of UNSERVED_REASONS) {
      const kind = WIRE_SUBMITS.includes(name) ? 'submit' : 'query';
      const answer = await send(suite.root.baseUrl, `/public/v1/${kind}/${name}`, '{}');
      expectError(answer, 501, 'UNIMPLEMENTED');
      expect(answer.body.message).toBe(`${name} is not available in this version: ${reason}`);
    }
    expect((await suite.root.query('list_tvc_quorum_keys')).body).toEqual({
      tvcQuorumKeys: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: '', endCursor: '' },
    });
    expectError(
      await suite.root.query('list_tvc_quorum_keys', { paginationOptions: { after: randomUUID() } }),
      400,
      'REQUEST_INVALID',
    );
  });
});
