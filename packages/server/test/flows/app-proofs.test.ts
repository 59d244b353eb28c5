import { createHash, createPublicKey, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, newKeyPair, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { aName, approve, COMPLETED, ethereum, FAILED, needTwo, outcome, PENDING, solana } from './fixtures/wallets.ts';

interface Proof {
  readonly scheme: string;
  readonly publicKey: string;
  readonly proofPayload: string;
  readonly signature: string;
}

/** Two uncompressed keys, of which the second signs SHA-256 of the payload's text (protocol/bundles 6.2). */
function isSigned({ scheme, publicKey, proofPayload, signature }: Proof): boolean {
  expect(scheme).toBe('SIGNATURE_SCHEME_EPHEMERAL_KEY_P256');
  expect(publicKey).toMatch(/^(04[0-9a-f]{128}){2}$/);
  expect(signature).toMatch(/^[0-9a-f]{128}$/);
  const point = Buffer.from(publicKey, 'hex').subarray(65);
  const [x, y] = [point.toString('base64url', 1, 33), point.toString('base64url', 33)];
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  const bytes = Buffer.from(signature, 'hex');
  return verify('sha256', Buffer.from(proofPayload, 'utf8'), { key, dsaEncoding: 'ieee-p1363' }, bytes);
}

const digestOf = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex');
const payloadOf = (proof: Proof | undefined) => JSON.parse(proof?.proofPayload ?? 'null');

describe.each(databasesOf(import.meta.url))('app proofs on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  let root: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
    root = await createSubOrganization(parent, 'Proofs');
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const stored = async (client: TestClient, activityId: string): Promise<Proof[]> =>
    (await client.query('list_app_proofs', { activityId })).body.appProofs;

  test.each([
    ['beside the parameters', {}, { generateAppProofs: true }],
    ['among the parameters', { generateAppProofs: true }, {}],
    ['in both places', { generateAppProofs: true }, { generateAppProofs: true }],
    ['in one of two places', { generateAppProofs: false }, { generateAppProofs: true }],
  ])('are made when asked for %s', async (_name, inside, outside) => {
    const accounts = [ethereum(), solana()];
    const parameters = { walletName: aName('proven'), accounts, ...inside };
    const answer = await root.submit('create_wallet', parameters, outside);
    const { activity } = answer.body;
    expect(outcome(answer)).toEqual([200, COMPLETED]);
    const { walletId, addresses } = activity.result.createWalletResult;
    const proofs: Proof[] = activity.appProofs;
    expect(proofs).toHaveLength(3);
    expect(proofs.every(isSigned)).toBe(true);
    expect(new Set(proofs.map((proof) => proof.publicKey)).size).toBe(1);
    const timestampMs = String(Date.parse(activity.createdAt));
    expect(proofs.slice(1).map(payloadOf)).toEqual(
      accounts.map(({ path }, index) => ({
        type: 'APP_PROOF_TYPE_ADDRESS_DERIVATION',
        timestampMs,
        addressDerivationProof: {
          organizationId: root.organizationId,
          walletId,
          derivationPath: path,
          address: addresses[index],
        },
      })),
    );
    const hexDigest = expect.stringMatching(/^[0-9a-f]{64}$/);
    const [vote] = activity.votes;
    expect(payloadOf(proofs[0])).toEqual({
      type: 'APP_PROOF_TYPE_POLICY_OUTCOME',
      timestampMs,
      policyOutcomeProof: {
        organizationId: root.organizationId,
        outcome: 'OUTCOME_ALLOW',
        decisionContextDigest: digestOf({
          type: activity.type,
          fingerprint: activity.fingerprint,
          approvers: [root.userId],
        }),
        organizationDataDigest: hexDigest,
        parentOrganizationDataDigest: hexDigest,
        userRequestApprovals: [
          {
            userId: root.userId,
            publicKey: vote.publicKey,
            signature: vote.signature,
            scheme: vote.scheme,
            messageDigest: activity.fingerprint,
          },
        ],
      },
    });
    // They stay with the activity.
    expect(await stored(root, activity.id)).toEqual(proofs);
    expect((await root.query('get_activity', { activityId: activity.id })).body.activity.appProofs).toEqual(proofs);
    // A proof says what it says and nothing else.
    const altered = proofs.map((proof) => ({ ...proof, proofPayload: proof.proofPayload.replace('"type"', '"Type"') }));
    expect(altered.some(isSigned)).toBe(false);
  });

  test('are not made when nobody asks', async () => {
    for (const [inside, outside] of [
      [{}, {}],
      [{ generateAppProofs: false }, { generateAppProofs: false }],
      [{ generateAppProofs: null }, { generateAppProofs: null }],
    ]) {
      const parameters = { walletName: aName('plain'), accounts: [ethereum()], ...inside };
      const { activity } = (await root.submit('create_wallet', parameters, outside)).body;
      expect(activity.status).toBe(COMPLETED);
      expect(activity).not.toHaveProperty('appProofs');
      expect(await stored(root, activity.id)).toEqual([]);
    }
    const odd = { walletName: aName('odd'), accounts: [] };
    expect(outcome(await root.submit('create_wallet', odd, { generateAppProofs: 'yes' }))).toEqual([
      400,
      'REQUEST_INVALID',
    ]);
  });

  test('of any activity: the outcome always, a derivation for each new address', async () => {
    const asked = { generateAppProofs: true };
    const typesOf = async (operation: string, parameters: unknown) => {
      const { activity } = (await root.submit(operation, parameters, asked)).body;
      expect(activity.status, operation).toBe(COMPLETED);
      expect(activity.appProofs.every(isSigned)).toBe(true);
      return {
        result: Object.values(activity.result)[0] as { walletId: string },
        types: activity.appProofs.map((proof: Proof) => payloadOf(proof).type),
      };
    };
    const OUTCOME = 'APP_PROOF_TYPE_POLICY_OUTCOME';
    const DERIVATION = 'APP_PROOF_TYPE_ADDRESS_DERIVATION';
    const made = await typesOf('create_wallet', { walletName: aName('empty'), accounts: [] });
    expect(made.types).toEqual([OUTCOME]);
    const { walletId } = made.result;
    const accounts = [ethereum(0), ethereum(1)];
    expect((await typesOf('create_wallet_accounts', { walletId, accounts })).types).toEqual([
      OUTCOME,
      DERIVATION,
      DERIVATION,
    ]);
    const targetPublicKey = newKeyPair().publicKey;
    expect((await typesOf('export_wallet', { walletId, targetPublicKey })).types).toEqual([OUTCOME]);
    expect((await typesOf('update_user_name', { userId: root.userId, userName: 'New' })).types).toEqual([OUTCOME]);
  });

  test('of an activity that waits are made when it completes, and name everyone who approved', async () => {
    const first = await createSubOrganization(parent, 'Two');
    const second = await needTwo(first);
    const asked = { generateAppProofs: true };
    const walletName = aName('waiting');
    const propose = () => first.submit('create_wallet', { walletName, accounts: [ethereum()] }, asked);
    const [pending, doomed] = [await propose(), await propose()];
    expect(outcome(pending)).toEqual([200, PENDING]);
    expect(pending.body.activity).not.toHaveProperty('appProofs');
    expect(await stored(first, pending.body.activity.id)).toEqual([]);
    const done = (await approve(second, pending.body.activity.fingerprint)).body.activity;
    expect(done.status).toBe(COMPLETED);
    expect(done.appProofs).toHaveLength(2);
    expect(done.appProofs.every(isSigned)).toBe(true);
    const { policyOutcomeProof } = payloadOf(done.appProofs[0]);
    expect(policyOutcomeProof.userRequestApprovals.map((item: { userId: string }) => item.userId)).toEqual([
      first.userId,
      second.userId,
    ]);
    expect(policyOutcomeProof.decisionContextDigest).toBe(
      digestOf({ type: done.type, fingerprint: done.fingerprint, approvers: [first.userId, second.userId] }),
    );
    expect(await stored(second, done.id)).toEqual(done.appProofs);
    // What fails has nothing to prove: the name is taken now.
    const failed = (await approve(second, doomed.body.activity.fingerprint)).body.activity;
    expect(failed.status).toBe(FAILED);
    expect(await stored(first, failed.id)).toEqual([]);
  });

  test('the digest of the parent is empty where there is none', async () => {
    const answer = await parent.submit(
      'create_wallet',
      { walletName: aName('top'), accounts: [] },
      { generateAppProofs: true },
    );
    const { policyOutcomeProof } = payloadOf(answer.body.activity.appProofs[0]);
    expect(policyOutcomeProof.parentOrganizationDataDigest).toBe('');
    expect(policyOutcomeProof.organizationDataDigest).toMatch(/^[0-9a-f]{64}$/);
  });

  test('are read in their own organization alone', async () => {
    const answer = await root.submit(
      'create_wallet',
      { walletName: aName('own'), accounts: [] },
      { generateAppProofs: true },
    );
    const activityId = answer.body.activity.id;
    expect(await stored(root, activityId)).toHaveLength(1);
    const stranger = await createSubOrganization(parent, 'Stranger');
    expect(outcome(await stranger.query('list_app_proofs', { activityId }))).toEqual([404, 'ACTIVITY_NOT_FOUND']);
  });

  test('boot proofs, which only special hardware can give, are refused with the reason', async () => {
    const { publicKey } = (
      await root.submit('create_wallet', { walletName: aName('boot'), accounts: [] }, { generateAppProofs: true })
    ).body.activity.appProofs[0];
    for (const [operation, parameters] of [
      ['get_boot_proof', { ephemeralKey: publicKey }],
      ['get_latest_boot_proof', { appName: 'signer' }],
    ] as const) {
      const answer = await root.query(operation, parameters);
      expect(outcome(answer), operation).toEqual([404, 'RESOURCE_NOT_FOUND']);
      expect(answer.body.message).toContain('not attested');
    }
  });
});
