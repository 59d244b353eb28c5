import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../src/lib/errors.ts';
import { keyImport, newWallet, secretParams, walletImport } from '../fixtures/keys.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { encryptTo, KNOWN_WALLET, newImportTarget, newSecretTargets, Receiver } from '../harness/bundles.ts';
import { type Answer, createSubOrganization, createUser, type TestClient } from '../harness/client.ts';
import { DATABASES, databasesOf } from '../harness/databases.ts';
import { expectRefusal, outward } from './answers.ts';

// One-time keys: bound to an organization, a user and a kind, for an hour and for one import (protocol/wallets 6.2).

let made = 0;
const fresh = (): string => `import ${++made}`;

interface Kind {
  readonly operation: string;
  readonly newTarget: (client: TestClient) => Promise<string>;
  readonly parameters: (client: TestClient, target: string) => Record<string, unknown>;
  /** What a bundle is answered with that none of the user's open targets is for. */
  readonly misdirected: ErrorCode;
  readonly count: (client: TestClient) => Promise<number>;
}

const KINDS = {
  wallet: {
    operation: 'import_wallet',
    newTarget: (client) => newImportTarget(client, 'wallet'),
    parameters: (client, target) => walletImport(client, fresh(), target),
    misdirected: 'INVALID_BUNDLE',
    count: async (client) => (await client.query('list_wallets')).body.wallets.length,
  },
  'private key': {
    operation: 'import_private_key',
    newTarget: (client) => newImportTarget(client, 'private_key'),
    parameters: (client, target) => keyImport(client, fresh(), target),
    misdirected: 'INVALID_BUNDLE',
    count: async (client) => (await client.query('list_private_keys')).body.privateKeys.length,
  },
  secret: {
    operation: 'import_secrets',
    newTarget: async (client) => (await newSecretTargets(client))[0] as string,
    parameters: (client, target) => ({ secrets: [secretParams(`${client.userId} ${fresh()}`, target)] }),
    // Its request names the target.
    misdirected: 'FAILED_PRECONDITION',
    count: async (client) => (await client.query('list_secrets')).body.secrets.length,
  },
} as const satisfies Readonly<Record<string, Kind>>;

/** A sub-organization whose two root users may each do everything alone. */
async function newPair(parent: TestClient): Promise<readonly [TestClient, TestClient]> {
  const alice = await createSubOrganization(parent, fresh());
  const bob = await createUser(alice, 'bob');
  await alice.run('update_root_quorum', { threshold: 1, userIds: [alice.userId, bob.userId] });
  return [alice, bob];
}

/** An activity that was refused in the proposer's own call leaves nothing behind, so only the answers are compared. */
const sameRefusal = (first: Answer, second: Answer): void => expect(outward(first)).toEqual(outward(second));

describe.each(DATABASES)('imports on %s', (database) => {
  // Only what happens at once is another thing on the other database.
  const testHere = databasesOf(import.meta.url).includes(database) ? test : undefined;
  let app: TestApp;

  beforeAll(async () => {
    app = await openTestApp(database);
  });
  afterAll(() => app?.[Symbol.asyncDispose]());

  describe.each(Object.entries<Kind>(KINDS))('of a %s', (_name, kind) => {
    const send = (client: TestClient, target: string): Promise<Answer> =>
      client.submit(kind.operation, kind.parameters(client, target));

    async function expectDone(client: TestClient, target: string): Promise<void> {
      const before = await kind.count(client);
      const { status, body } = await send(client, target);
      expect(status, JSON.stringify(body)).toBe(200);
      expect(await kind.count(client)).toBe(before + 1);
    }

    async function expectRefused(client: TestClient, target: string, code: ErrorCode): Promise<Answer> {
      const before = await kind.count(client);
      const answer = await send(client, target);
      expectRefusal(answer, code);
      expect(await kind.count(client)).toBe(before);
      return answer;
    }

    testHere?.('a target serves one import', async () => {
      const [alice] = await newPair(app.root);
      const target = await kind.newTarget(alice);
      await expectDone(alice, target);
      await expectRefused(alice, target, 'FAILED_PRECONDITION');
      // An open one does not help the used one.
      const open = await kind.newTarget(alice);
      await expectRefused(alice, target, kind.misdirected);
      await expectDone(alice, open);
    });

    testHere?.('the same bytes again are the same import', async () => {
      const [alice] = await newPair(app.root);
      const body = alice.submitBody(kind.operation, kind.parameters(alice, await kind.newTarget(alice)));
      const path = `/public/v1/submit/${kind.operation}`;
      const first = await alice.sendStamped(path, body);
      expect(first.status, JSON.stringify(first.body)).toBe(200);
      await kind.newTarget(alice);
      const again = await alice.sendStamped(path, body);
      expect(again.body).toEqual(first.body);
      expect(await kind.count(alice)).toBe(1);
      // The same bundle in a request of its own is a second import.
      const { parameters } = JSON.parse(body);
      expectRefusal(await alice.submit(kind.operation, parameters), kind.misdirected);
      expect(await kind.count(alice)).toBe(1);
    });

    test('of many imports into one target at once, one is done', async () => {
      const [alice] = await newPair(app.root);
      const target = await kind.newTarget(alice);
      const answers = await Promise.all(Array.from({ length: 8 }, () => send(alice, target)));
      const [done, refused] = [200, 400].map((status) => answers.filter((answer) => answer.status === status));
      expect([done?.length, refused?.length]).toEqual([1, 7]);
      for (const answer of refused ?? []) expectRefusal(answer, 'FAILED_PRECONDITION');
      expect(await kind.count(alice)).toBe(1);
    });

    testHere?.("another user's target is like one that nobody has", async () => {
      const [alice, bob] = await newPair(app.root);
      await expectDone(bob, await kind.newTarget(bob));
      const target = await kind.newTarget(bob);
      const unknown = new Receiver().publicKey;
      sameRefusal(
        await expectRefused(alice, target, 'FAILED_PRECONDITION'),
        await expectRefused(alice, unknown, 'FAILED_PRECONDITION'),
      );
      const own = await kind.newTarget(alice);
      sameRefusal(
        await expectRefused(alice, target, kind.misdirected),
        await expectRefused(alice, unknown, kind.misdirected),
      );
      // Neither was used up.
      await expectDone(bob, target);
      await expectDone(alice, own);
    });

    testHere?.("another organization's target is like one that nobody has", async () => {
      const [alice] = await newPair(app.root);
      const [sibling] = await newPair(app.root);
      const unknown = new Receiver().publicKey;
      for (const [attacker, victim] of [
        [alice, sibling],
        [alice, app.root],
        [app.root, alice],
      ] as const) {
        const [target, own] = [await kind.newTarget(victim), await kind.newTarget(attacker)];
        sameRefusal(
          await expectRefused(attacker, target, kind.misdirected),
          await expectRefused(attacker, unknown, kind.misdirected),
        );
        await expectDone(victim, target);
        await expectDone(attacker, own);
      }
    });

    testHere?.('a target of another kind is like one that nobody has', async () => {
      const [alice] = await newPair(app.root);
      await expectDone(alice, await kind.newTarget(alice));
      for (const other of Object.values<Kind>(KINDS).filter((candidate) => candidate !== kind)) {
        const target = await other.newTarget(alice);
        sameRefusal(
          await expectRefused(alice, target, 'FAILED_PRECONDITION'),
          await expectRefused(alice, new Receiver().publicKey, 'FAILED_PRECONDITION'),
        );
        const { status } = await alice.submit(other.operation, other.parameters(alice, target));
        expect(status).toBe(200);
      }
    });

    testHere?.('a target lives for an hour', async () => {
      await using own = await openTestApp(database);
      const targets = [await kind.newTarget(own.root), await kind.newTarget(own.root)] as const;
      let offset = 0;
      const later = (minutes: number, target: string): Promise<Answer> => {
        own.advance(minutes * 60_000);
        offset += minutes * 60_000;
        const timestampMs = String(Date.now() + offset);
        return own.root.submit(kind.operation, kind.parameters(own.root, target), { timestampMs });
      };
      const inTime = await later(30, targets[0]);
      expect(inTime.status, JSON.stringify(inTime.body)).toBe(200);
      expectRefusal(await later(30, targets[1]), 'FAILED_PRECONDITION');
      expect(await kind.count(own.root)).toBe(1);
    });

    testHere?.('a bundle that was changed on its way opens nothing and uses nothing up', async () => {
      const [alice] = await newPair(app.root);
      const target = await kind.newTarget(alice);
      for (const change of [
        ({ encappedPublic, ciphertext }: Bundle) => ({ encappedPublic, ciphertext: flip(ciphertext, 0) }),
        ({ encappedPublic, ciphertext }: Bundle) => ({ encappedPublic, ciphertext: flip(ciphertext, -1) }),
        ({ encappedPublic, ciphertext }: Bundle) => ({ encappedPublic, ciphertext: ciphertext.slice(0, -2) }),
        ({ encappedPublic, ciphertext }: Bundle) => ({ encappedPublic: flip(encappedPublic, -1), ciphertext }),
        ({ ciphertext }: Bundle) => ({ encappedPublic: new Receiver().publicKey, ciphertext }),
        ({ encappedPublic }: Bundle) => ({ encappedPublic, ciphertext: '' }),
        ({ ciphertext }: Bundle) => ({ ciphertext }),
        ({ encappedPublic, ciphertext }: Bundle) => [encappedPublic, ciphertext],
        () => null,
      ]) {
        const parameters = changeBundle(kind.parameters(alice, target), (bundle) =>
          JSON.stringify(change(JSON.parse(bundle))),
        );
        expectRefusal(await alice.submit(kind.operation, parameters), 'INVALID_BUNDLE');
      }
      for (const text of ['', 'null', '{', '"x"', '[]', '{}', `{"encappedPublic":${'['.repeat(5000)}`]) {
        const parameters = changeBundle(kind.parameters(alice, target), () => text);
        expectRefusal(await alice.submit(kind.operation, parameters), 'INVALID_BUNDLE');
      }
      expect(await kind.count(alice)).toBe(0);
      await expectDone(alice, target);
    });
  });

  testHere?.('a wallet bundle must hold a mnemonic, a key bundle a key of its curve', async () => {
    const [alice] = await newPair(app.root);
    const target = await newImportTarget(alice, 'wallet');
    const good = walletImport(alice, fresh(), target);
    for (const plaintext of [
      '',
      KNOWN_WALLET.mnemonic.replace('about', 'abandon'),
      KNOWN_WALLET.mnemonic.slice(8),
      `${KNOWN_WALLET.mnemonic} about`,
      new Uint8Array([0xff, 0xfe]),
      'a'.repeat(60_000),
    ]) {
      const answer = await alice.submit('import_wallet', { ...good, encryptedBundle: encryptTo(target, plaintext) });
      expectRefusal(answer, 'INVALID_BUNDLE');
      // What was inside is the user's secret even if it is wrong.
      expect(JSON.stringify(answer.body)).not.toMatch(/abandon|aaaa/);
    }
    expect((await alice.submit('import_wallet', good)).status).toBe(200);

    const keyTarget = await newImportTarget(alice, 'private_key');
    const key = { ...keyImport(alice, fresh(), keyTarget), curve: 'CURVE_SECP256K1', addressFormats: [] };
    const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141';
    for (const hex of ['', '01', '00'.repeat(32), order, 'ff'.repeat(32), '01'.repeat(33), '01'.repeat(64)]) {
      const encryptedBundle = encryptTo(keyTarget, Buffer.from(hex, 'hex'));
      expectRefusal(await alice.submit('import_private_key', { ...key, encryptedBundle }), 'INVALID_BUNDLE');
    }
    const one = encryptTo(keyTarget, Buffer.from('01'.padStart(64, '0'), 'hex'));
    expect((await alice.submit('import_private_key', { ...key, encryptedBundle: one })).status).toBe(200);
  });

  testHere?.('what was exported to somebody is no import', async () => {
    const [alice] = await newPair(app.root);
    const { walletId } = await newWallet(alice, fresh());
    const target = await newImportTarget(alice, 'wallet');
    const receiver = new Receiver();
    const { exportBundle } = await alice.run('export_wallet', { walletId, targetPublicKey: receiver.publicKey });
    const { data } = JSON.parse(exportBundle);
    const parameters = walletImport(alice, fresh(), target);
    for (const encryptedBundle of [exportBundle, Buffer.from(data, 'hex').toString()]) {
      expectRefusal(await alice.submit('import_wallet', { ...parameters, encryptedBundle }), 'INVALID_BUNDLE');
    }
    // An export to the open target is what its owner may well do: the mnemonic never leaves.
    const moved = await alice.run('export_wallet', { walletId, targetPublicKey: target });
    const inside = Buffer.from(JSON.parse(moved.exportBundle).data, 'hex').toString();
    const done = await alice.submit('import_wallet', { ...parameters, encryptedBundle: inside });
    expect(done.status, JSON.stringify(done.body)).toBe(200);
  });

  testHere?.('nobody imports for somebody else', async () => {
    const [alice, bob] = await newPair(app.root);
    const strangers = [bob.userId, app.root.userId, (await newPair(app.root))[0].userId];
    for (const [init, kind] of [
      ['init_import_wallet', KINDS.wallet],
      ['init_import_private_key', KINDS['private key']],
    ] as const) {
      for (const userId of strangers) {
        expectRefusal(await alice.submit(init, { userId }), 'REQUEST_NOT_AUTHORIZED');
        const target = await kind.newTarget(alice);
        const parameters = { ...kind.parameters(alice, target), userId };
        expectRefusal(await alice.submit(kind.operation, parameters), 'REQUEST_NOT_AUTHORIZED');
        const done = await alice.submit(kind.operation, { ...parameters, userId: alice.userId });
        expect(done.status, JSON.stringify(done.body)).toBe(200);
      }
    }
  });

  testHere?.('an import for somebody else does not even wait for a quorum', async () => {
    const [alice, bob] = await newPair(app.root);
    const targets = [await newImportTarget(alice, 'wallet'), await newImportTarget(bob, 'wallet')] as const;
    await alice.run('update_root_quorum', { threshold: 2, userIds: [alice.userId, bob.userId] });
    const own = await alice.submit('import_wallet', walletImport(alice, fresh(), targets[0]));
    expect(own.body.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    const done = await bob.submit('approve_activity', { fingerprint: own.body.activity.fingerprint });
    expect(done.body.activity.status, JSON.stringify(done.body.activity.failure)).toBe('ACTIVITY_STATUS_COMPLETED');
    // protocol/wallets 6.1: the rule comes before every decision, so nobody is asked to vote on it.
    const forBob = { ...walletImport(alice, fresh(), targets[1]), userId: bob.userId };
    expectRefusal(await alice.submit('import_wallet', forBob), 'REQUEST_NOT_AUTHORIZED');
    expectRefusal(await alice.submit('init_import_wallet', { userId: bob.userId }), 'REQUEST_NOT_AUTHORIZED');
  });

  testHere?.('approvers bring no targets: a quorum imports into what the proposer opened', async () => {
    const [alice, bob] = await newPair(app.root);
    const [alices, bobs] = [await newImportTarget(alice, 'wallet'), await newImportTarget(bob, 'wallet')];
    await alice.run('update_root_quorum', { threshold: 2, userIds: [alice.userId, bob.userId] });
    for (const [target, status] of [
      [bobs, 'ACTIVITY_STATUS_FAILED'],
      [alices, 'ACTIVITY_STATUS_COMPLETED'],
    ] as const) {
      const pending = await alice.submit('import_wallet', walletImport(alice, fresh(), target));
      const { fingerprint } = pending.body.activity;
      const decided = await bob.submit('approve_activity', { fingerprint });
      expect(decided.body.activity.status).toBe(status);
    }
    expect((await alice.query('list_wallets')).body.wallets).toHaveLength(1);
  });

  testHere?.('a user has five open targets of a kind, the newest', async () => {
    const [alice] = await newPair(app.root);
    const targets: string[] = [];
    for (let index = 0; index < 6; index += 1) targets.push(await newImportTarget(alice, 'wallet'));
    const [oldest = '', ...rest] = targets;
    expectRefusal(await alice.submit('import_wallet', walletImport(alice, fresh(), oldest)), 'INVALID_BUNDLE');
    for (const target of rest) {
      const { status } = await alice.submit('import_wallet', walletImport(alice, fresh(), target));
      expect(status).toBe(200);
    }
  });

  test('secrets come all or not at all', async () => {
    const [alice] = await newPair(app.root);
    const [first = '', second = ''] = await newSecretTargets(alice, 2);
    const count = async () => (await alice.query('list_secrets')).body.secrets.length;
    const good = [secretParams(fresh(), first), secretParams(fresh(), second)];
    for (const secrets of [
      [good[0], { ...good[1], secretPayload: '{}' }],
      [good[0], { ...good[1], targetPublicKey: new Receiver().publicKey }],
      [good[0], { ...good[1], secretPayload: good[0]?.secretPayload }],
      [good[0], { ...good[1], targetPublicKey: first }],
      [good[0], { ...good[1], name: good[0]?.name }],
    ]) {
      expectRefusal(await alice.submit('import_secrets', { secrets }));
      expect(await count()).toBe(0);
    }
    await alice.run('import_secrets', { secrets: good });
    expect(await count()).toBe(2);
  });
});

interface Bundle {
  readonly encappedPublic: string;
  readonly ciphertext: string;
}

/** Hex with one bit of one byte changed; negative positions count from the end. */
function flip(hex: string, at: number): string {
  const bytes = Buffer.from(hex, 'hex');
  const index = at < 0 ? bytes.length + at : at;
  bytes[index] = (bytes[index] as number) ^ 1;
  return bytes.toString('hex');
}

/** The request with another bundle in it. */
function changeBundle(parameters: Record<string, unknown>, change: (bundle: string) => string): unknown {
  const { encryptedBundle, secrets } = parameters;
  if (typeof encryptedBundle === 'string') return { ...parameters, encryptedBundle: change(encryptedBundle) };
  const [secret] = secrets as [{ secretPayload: string }];
  return { secrets: [{ ...secret, secretPayload: change(secret.secretPayload) }] };
}
